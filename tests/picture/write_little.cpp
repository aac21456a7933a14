// SPDX-License-Identifier: Apache-2.0
// Writes the log of little.hpp: write_little FILE
#include <fstream>

#include "little.hpp"
#include "log/writer.hpp"

int main(int argc, char** argv) {
  if (argc != 2) return 3;
  std::ofstream file(argv[1], std::ios::binary);
  mrc::log::Writer writer(file);
  const mrc::picture::Little little;
  for (const mrc::log::Record& record : little.records()) writer.write(record);
  writer.finish();
  return file.good() ? 0 : 3;
}
