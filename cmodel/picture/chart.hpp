// SPDX-License-Identifier: Apache-2.0
/// Pictures as SVG: self-contained, readable on light and on dark ground, with a title, axes and their units.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mrc::picture {

/// Microseconds of a time in ps.
constexpr double us(uint64_t time) { return static_cast<double>(time) / 1e6; }

/// Text within SVG and HTML.
std::string escaped(std::string_view text);

/// Colours by meaning; the style sheet has each of them twice.
enum class Ink : uint8_t {
  Plain,  ///< what is as it should be
  Again,  ///< sent again
  Trimmed,
  Lost,
  Marked,
  Answer,  ///< cack, SACKs
  Edge,    ///< limits
  Hole,
  Text,
  Plane0,  ///< and the seven behind it: planes
};
Ink plane_ink(unsigned plane);
const char* class_of(Ink ink);

/// A drawing of marks in pixels.
class Drawing {
 public:
  Drawing(double width, double height, std::string title) : width_(width), height_(height), title_(std::move(title)) {}

  void dot(double x, double y, Ink ink, double radius = 2, std::string_view tip = {});
  void cross(double x, double y, Ink ink, std::string_view tip = {}, double size = 4);
  void triangle(double x, double y, Ink ink, std::string_view tip = {});
  void line(double x1, double y1, double x2, double y2, Ink ink, bool dashed = false, std::string_view tip = {});
  void path(const std::vector<std::pair<double, double>>& points, Ink ink, bool dashed = false);
  /// Filled, `strength` 0 to 1.
  void box(double x, double y, double width, double height, Ink ink, double strength, std::string_view tip = {});
  /// Anchor: -1 begins at x, 0 in the middle, 1 ends there.
  void text(double x, double y, std::string_view text, int anchor = -1, bool small = true, bool bold = false);
  void turned_text(double x, double y, std::string_view text);
  double width() const { return width_; }
  double height() const { return height_; }
  void grow(double height) { height_ = height; }

  std::string svg() const;

 private:
  double width_, height_;
  std::string title_, body_;
};

/// Axis of numbers on a stretch of pixels.
struct Axis {
  double low = 0, high = 1;   ///< values at both ends
  double begin = 0, end = 1;  ///< pixels
  double at(double value) const { return high == low ? begin : begin + (value - low) / (high - low) * (end - begin); }
  /// Round numbers, some `most` of them.
  std::vector<double> ticks(unsigned most) const;
};

/// A frame with a time axis below and an axis of values on the left.
struct Frame {
  Axis x, y;
  /// Draws axes, ticks, labels.
  void draw(Drawing& to, std::string_view x_label, std::string_view y_label, bool y_ticks = true) const;
};

/// A line of explanations: mark and word.
struct LegendEntry {
  enum class Mark : uint8_t { Dot, Cross, Triangle, Line, Dashed, Box } mark;
  Ink ink;
  std::string text;
};
void legend(Drawing& to, double x, double y, const std::vector<LegendEntry>& entries);

/// "12.5", at most three decimals, without zeros at the end.
std::string number_text(double value);

}  // namespace mrc::picture
