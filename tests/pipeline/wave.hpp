// SPDX-License-Identifier: Apache-2.0
/// Waveforms for the pages of the blocks: what streams do, cycle by cycle, as a WaveDrom description. A test watches
/// some streams, samples them in each cycle and compares with docs/figures/waves/NAME.json, so that a figure cannot
/// say what the model does not do. MRC_WAVES=write in the environment writes the file instead; tools/waves.py draws it.
#pragma once

#include <fmt/format.h>

#include <cstdlib>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "clone_paths.hpp"
#include "pipeline/lib/stream.hpp"

namespace mrc {

class Wave {
 public:
  /// name: of the file; title: stands above the drawing.
  Wave(std::string name, std::string title) : name_(std::move(name)), title_(std::move(title)) {}

  /// A row with the words that `label` gives; "" where the data mean nothing. stays: whether a word that does not
  /// change is the one of the cycle before; otherwise each cycle has one of its own, as transfers in a row have.
  void words(std::string row, std::function<std::string()> label, std::function<bool()> stays) {
    rows_.push_back({std::move(row), {}, {}, std::move(label), std::move(stays), nullptr});
  }
  /// A row of one bit.
  void bit(std::string row, std::function<bool()> value) {
    rows_.push_back({std::move(row), {}, {}, nullptr, nullptr, std::move(value)});
  }
  /// The output register of a stream: `label` of its data while valid. The stream must outlive this.
  template <class T, class Label>
  void out(std::string row, const Stream<T>& s, Label label) {
    words(
        std::move(row), [&s, label] { return s.valid() ? std::string(label(s.data())) : std::string(); },
        [&s, waited = false]() mutable { return std::exchange(waited, s.valid() && !s.ready()); });
  }
  /// The head of a stream's input FIFO. Two heads in a row should have different labels.
  template <class T, class Label>
  void head(std::string row, const Stream<T>& s, Label label) {
    words(
        std::move(row), [&s, label] { return s.has() ? std::string(label(s.head())) : std::string(); },
        [] { return true; });
  }

  /// Takes down what the rows are in this cycle: after the clock edge, before the blocks' step().
  void sample() {
    ++cycles_;
    for (Row& r : rows_) {
      if (r.value) {
        r.wave += r.value() ? '1' : '0';
        continue;
      }
      const std::string word = r.label();
      const bool same = r.stays() && !word.empty() && r.wave.find_last_of("=x") != std::string::npos &&
                        r.wave[r.wave.find_last_of("=x")] == '=' && r.data.back() == word;
      r.wave += word.empty() ? 'x' : same ? '.' : '=';
      if (!word.empty() && !same) r.data.push_back(word);
    }
  }

  /// The description: a row per line.
  std::string json() const {
    std::string text = "{\"signal\": [\n";
    text += fmt::format("  {{\"name\": \"clk\", \"wave\": \"p{}\"}}", std::string(cycles_ - 1, '.'));
    for (const Row& r : rows_) {
      text += fmt::format(",\n  {{\"name\": \"{}\", \"wave\": \"{}\"", r.name, brief(r.wave));
      for (std::size_t i = 0; i < r.data.size(); ++i) {
        text += fmt::format("{}\"{}\"", i == 0 ? ", \"data\": [" : ", ", r.data[i]);
      }
      text += r.data.empty() ? "}" : "]}";
    }
    return text +
           fmt::format("\n], \"head\": {{\"text\": \"{}\", \"tick\": 0}}, \"config\": {{\"hscale\": 1}}}}\n", title_);
  }

  /// What the file says, or "" when json() is just that. With MRC_WAVES=write the file is written first.
  std::string differs() const {
    const std::string path = fmt::format("{}/docs/figures/waves/{}.json", MRC_SOURCE_DIR, name_);
    const char* mode = std::getenv("MRC_WAVES");  // NOLINT(concurrency-mt-unsafe): tests have one thread
    if (mode && std::string_view(mode) == "write") std::ofstream(path) << json();
    std::ifstream file(path);
    std::stringstream kept;
    kept << file.rdbuf();
    if (!file) return "(no such file)";
    return kept.str() == json() ? std::string() : kept.str();
  }

 private:
  struct Row {
    std::string name, wave;
    std::vector<std::string> data;
    std::function<std::string()> label;  // of a row of words,
    std::function<bool()> stays;
    std::function<bool()> value;  // or of bits
  };

  /// WaveDrom's short form: '.' goes on as before. Words stay as they are, each is a transfer of its own.
  static std::string brief(std::string wave) {
    char before = 0;
    for (char& c : wave) {
      if (c == '.') continue;
      if (c != '=' && c == before) {
        c = '.';
      } else {
        before = c;
      }
    }
    return wave;
  }

  std::string name_, title_;
  std::size_t cycles_ = 0;
  std::vector<Row> rows_;
};

}  // namespace mrc
