// SPDX-License-Identifier: Apache-2.0
/// What an event of SystemC costs: N modules with one SC_METHOD each, that wake each other as the switches of a fabric
/// would. Compare with the time per event of fabric_speed.
///   systemc_speed NODES [activations]
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <string>
#include <systemc>
#include <vector>

namespace {
struct Node : sc_core::sc_module {
  SC_CTOR(Node) {
    SC_METHOD(step);
    sensitive << event;
    dont_initialize();
  }
  void step() {
    if (--*left == 0) {
      sc_core::sc_stop();
      return;
    }
    // The next node, a hop later.
    next->event.notify(sc_core::sc_time::from_value(600'000 + (*left * 7919) % 4096));
  }
  Node* next = nullptr;
  uint64_t* left = nullptr;
  sc_core::sc_event event;
};
}  // namespace

int main(int argc, char** argv) {
  const unsigned nodes = argc > 1 ? static_cast<unsigned>(std::atoi(argv[1])) : 5;
  uint64_t left = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 5'000'000;
  const uint64_t all = left;
  std::vector<std::unique_ptr<Node>> node;
  for (unsigned n = 0; n < nodes; ++n) node.push_back(std::make_unique<Node>(("n" + std::to_string(n)).c_str()));
  for (unsigned n = 0; n < nodes; ++n) {
    node[n]->next = node[(n + 1) % nodes].get();
    node[n]->left = &left;
    node[n]->event.notify(sc_core::sc_time::from_value(uint64_t{42'580} * (n + 1)));
  }
  const std::clock_t begin = std::clock();
  sc_core::sc_start();
  const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  std::printf("%u nodes: %.1f ns per SC_METHOD activation\n", nodes, seconds * 1e9 / static_cast<double>(all));
  return 0;
}
int sc_main(int, char**) { return 0; }
