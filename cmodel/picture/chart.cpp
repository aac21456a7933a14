// SPDX-License-Identifier: Apache-2.0
#include "picture/chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "util/printable.hpp"

namespace mrc::picture {
namespace {

struct Colours {
  const char *name, *light, *dark;
};
constexpr Colours kColours[] = {
    {"plain", "#0072b2", "#56b4e9"}, {"again", "#d55e00", "#ff9a4d"},  {"trimmed", "#8b3fa8", "#cf9be8"},
    {"lost", "#c4001a", "#ff6070"},  {"marked", "#b07c00", "#f0c030"}, {"answer", "#007a5a", "#35c79a"},
    {"edge", "#767676", "#a0a0a0"},  {"hole", "#888888", "#9a9a9a"},   {"text", "#222222", "#e6e6e6"},
    {"p0", "#0072b2", "#56b4e9"},    {"p1", "#d55e00", "#ff9a4d"},     {"p2", "#007a5a", "#35c79a"},
    {"p3", "#8b3fa8", "#cf9be8"},    {"p4", "#b07c00", "#f0c030"},     {"p5", "#4a6f8a", "#9cc3df"},
    {"p6", "#b0306a", "#ff86b5"},    {"p7", "#5f6b00", "#c3d03c"}};

/// One style for all pictures: several of them may stand in one page.
std::string style() {
  std::string light, dark;
  for (const Colours& c : kColours) {
    light += fmt::format(".mrc .{}{{color:{}}}", c.name, c.light);
    dark += fmt::format(".mrc .{}{{color:{}}}", c.name, c.dark);
  }
  return "<style>\n.mrc{font:12px sans-serif}.mrc .s{font-size:11px}.mrc .b{font-weight:bold}.mrc "
         ".d{stroke-dasharray:5 3}\n.mrc path,.mrc .l{fill:none;stroke:currentColor}.mrc .f,.mrc "
         "text{fill:currentColor}.mrc .ground{fill:#ffffff}\n" +
         light + "\n@media (prefers-color-scheme:dark){.mrc .ground{fill:#16181c}\n" + dark + "}\n</style>\n";
}

constexpr unsigned kPlanes = 8;

/// A pixel with one decimal at most.
std::string px(double value) {
  const double rounded = std::round(value * 10) / 10;
  return fmt::format("{:g}", rounded == 0 ? 0.0 : rounded);
}

std::string closed(std::string_view tip, const char* element) {
  if (tip.empty()) return "/>\n";
  return fmt::format("><title>{}</title></{}>\n", escaped(tip), element);
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : printable(text)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

Ink plane_ink(unsigned plane) { return static_cast<Ink>(static_cast<unsigned>(Ink::Plane0) + plane % kPlanes); }

const char* class_of(Ink ink) { return kColours[static_cast<std::size_t>(ink)].name; }

std::string number_text(double value) {
  std::string text = fmt::format("{:.3f}", value);
  while (text.ends_with('0')) text.pop_back();
  if (text.ends_with('.')) text.pop_back();
  return text == "-0" ? "0" : text;
}

void Drawing::dot(double x, double y, Ink ink, double radius, std::string_view tip) {
  body_ += fmt::format(R"(<circle class="f {}" cx="{}" cy="{}" r="{}")", class_of(ink), px(x), px(y), px(radius)) +
           closed(tip, "circle");
}

void Drawing::cross(double x, double y, Ink ink, std::string_view tip, double size) {
  body_ += fmt::format(R"(<path class="{}" stroke-width="2" d="M{} {}l{} {}m0 {}l{} {}")", class_of(ink), px(x - size),
                       px(y - size), px(2 * size), px(2 * size), px(-2 * size), px(-2 * size), px(2 * size)) +
           closed(tip, "path");
}

void Drawing::triangle(double x, double y, Ink ink, std::string_view tip) {
  body_ += fmt::format(R"(<polygon class="f {}" points="{},{} {},{} {},{}")", class_of(ink), px(x), px(y - 4),
                       px(x - 4), px(y + 3), px(x + 4), px(y + 3)) +
           closed(tip, "polygon");
}

void Drawing::line(double x1, double y1, double x2, double y2, Ink ink, bool dashed, std::string_view tip) {
  body_ += fmt::format(R"(<line class="l {}{}" x1="{}" y1="{}" x2="{}" y2="{}")", class_of(ink), dashed ? " d" : "",
                       px(x1), px(y1), px(x2), px(y2)) +
           closed(tip, "line");
}

void Drawing::path(const std::vector<std::pair<double, double>>& points, Ink ink, bool dashed) {
  if (points.empty()) return;
  std::string d;
  for (const auto& [x, y] : points) d += fmt::format("{}{} {}", d.empty() ? "M" : "L", px(x), px(y));
  body_ += fmt::format("<path class=\"{}{}\" stroke-width=\"1.5\" d=\"{}\"/>\n", class_of(ink), dashed ? " d" : "", d);
}

void Drawing::box(double x, double y, double width, double height, Ink ink, double strength, std::string_view tip) {
  body_ += fmt::format(R"(<rect class="f {}" x="{}" y="{}" width="{}" height="{}" opacity="{:g}")", class_of(ink),
                       px(x), px(y), px(width), px(height), std::round(strength * 100) / 100) +
           closed(tip, "rect");
}

void Drawing::text(double x, double y, std::string_view text, int anchor, bool small, bool bold) {
  body_ += fmt::format("<text class=\"text{}{}\" x=\"{}\" y=\"{}\" text-anchor=\"{}\">{}</text>\n", small ? " s" : "",
                       bold ? " b" : "", px(x), px(y),
                       anchor < 0    ? "start"
                       : anchor == 0 ? "middle"
                                     : "end",
                       escaped(text));
}

void Drawing::turned_text(double x, double y, std::string_view text) {
  body_ += fmt::format(
      "<text class=\"text s\" transform=\"translate({} {}) rotate(-90)\" text-anchor=\"middle\">{}</text>\n", px(x),
      px(y), escaped(text));
}

std::string Drawing::svg() const {
  return fmt::format(
             "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"mrc\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
             "height=\"{1}\" style=\"max-width:100%;height:auto\" role=\"img\" "
             "aria-label=\"{2}\">\n<title>{2}</title>\n",
             px(width_), px(height_), escaped(title_)) +
         style() + "<rect class=\"ground\" width=\"100%\" height=\"100%\"/>\n" + body_ + "</svg>\n";
}

std::vector<double> Axis::ticks(unsigned most) const {
  std::vector<double> list;
  if (!(high > low) || most == 0) return {low};
  double step = std::pow(10, std::floor(std::log10((high - low) / most)));
  for (const double by : {1.0, 2.0, 5.0, 10.0}) {
    if ((high - low) / (step * by) <= most) {
      step *= by;
      break;
    }
  }
  for (double v = std::ceil(low / step - 1e-9); v * step <= high + step * 1e-9; ++v) list.push_back(v * step);
  return list;
}

void Frame::draw(Drawing& to, std::string_view x_label, std::string_view y_label, bool y_ticks) const {
  to.box(x.begin, y.end, x.end - x.begin, y.begin - y.end, Ink::Edge, 0.06);
  for (const double v : x.ticks(8)) {
    to.line(x.at(v), y.begin, x.at(v), y.begin + 4, Ink::Text);
    to.text(x.at(v), y.begin + 16, number_text(v), 0);
  }
  to.line(x.begin, y.begin, x.end, y.begin, Ink::Text);
  to.line(x.begin, y.begin, x.begin, y.end, Ink::Text);
  if (y_ticks) {
    for (const double v : y.ticks(7)) {
      to.line(x.begin - 4, y.at(v), x.begin, y.at(v), Ink::Text);
      to.text(x.begin - 7, y.at(v) + 4, number_text(v), 1);
    }
  }
  to.text((x.begin + x.end) / 2, y.begin + 32, x_label, 0);
  if (!y_label.empty()) to.turned_text(14, (y.begin + y.end) / 2, y_label);
}

void legend(Drawing& to, double x, double y, const std::vector<LegendEntry>& entries) {
  using Mark = LegendEntry::Mark;
  const double begin = x;
  for (const LegendEntry& e : entries) {
    const double width = 34 + 6.2 * static_cast<double>(e.text.size());
    if (x + width > to.width() && x > begin) {
      x = begin;
      y += 16;
    }
    switch (e.mark) {
      case Mark::Dot:
        to.dot(x + 8, y - 4, e.ink, 2.5);
        break;
      case Mark::Cross:
        to.cross(x + 8, y - 4, e.ink);
        break;
      case Mark::Triangle:
        to.triangle(x + 8, y - 4, e.ink);
        break;
      case Mark::Line:
        to.line(x, y - 4, x + 16, y - 4, e.ink);
        break;
      case Mark::Dashed:
        to.line(x, y - 4, x + 16, y - 4, e.ink, true);
        break;
      case Mark::Box:
        to.box(x, y - 9, 16, 10, e.ink, 0.5);
        break;
    }
    to.text(x + 20, y, e.text);
    x += width;
  }
}

}  // namespace mrc::picture
