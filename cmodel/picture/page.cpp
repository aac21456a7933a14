// SPDX-License-Identifier: Apache-2.0
#include "picture/page.hpp"

#include <sstream>

#include "picture/chart.hpp"

namespace mrc::picture {
namespace {

constexpr const char* kStyle = R"(<style>
:root{color-scheme:light dark}
body{font:15px/1.45 sans-serif;max-width:62em;margin:1.5em auto;padding:0 1em;background:#fff;color:#222}
pre{background:#f0f0f0;padding:.6em;overflow:auto;font-size:13px}
.wide{overflow-x:auto}table{border-collapse:collapse}
td,th{padding:.2em .8em .2em 0;text-align:left;vertical-align:top;border-bottom:1px solid #ccc}
figure{margin:1em 0}figcaption{color:#555;max-width:50em}.bad{color:#b00018}.good{color:#006a4e}
@media (prefers-color-scheme:dark){body{background:#16181c;color:#e6e6e6}pre{background:#24272d}
td,th{border-color:#444}figcaption{color:#aaa}.bad{color:#ff7080}.good{color:#35c79a}a{color:#56b4e9}}
</style>
)";

}  // namespace

void Page::verdict(std::string_view text, bool good) {
  body_ += std::string("<p class=\"") + (good ? "good" : "bad") + "\"><b>" + escaped(text) + "</b></p>\n";
}
void Page::heading(std::string_view text) { body_ += "<h2>" + escaped(text) + "</h2>\n"; }
void Page::subheading(std::string_view text, bool good) {
  body_ += std::string("<h3 class=\"") + (good ? "good" : "bad") + "\">" + escaped(text) + "</h3>\n";
}
void Page::paragraph(std::string_view text) { body_ += "<p>" + escaped(text) + "</p>\n"; }
void Page::lines(std::string_view text) {
  body_ += "<pre tabindex=\"0\">";
  std::istringstream in{std::string(text)};
  for (std::string line; std::getline(in, line);) body_ += escaped(line) + '\n';
  body_ += "</pre>\n";
}

void Page::table(const std::vector<std::string>& head, const std::vector<std::vector<std::string>>& rows) {
  body_ += "<div class=\"wide\"><table><tr>";
  for (const std::string& cell : head) body_ += "<th>" + escaped(cell) + "</th>";
  body_ += "</tr>\n";
  for (const auto& row : rows) {
    body_ += "<tr>";
    for (const std::string& cell : row) body_ += "<td>" + escaped(cell) + "</td>";
    body_ += "</tr>\n";
  }
  body_ += "</table></div>\n";
}

void Page::links(const std::vector<std::pair<std::string, std::string>>& files) {
  body_ += "<ul>\n";
  for (const auto& [name, what] : files)
    body_ += "<li><a href=\"" + escaped(name) + "\">" + escaped(name) + "</a>: " + escaped(what) + "</li>\n";
  body_ += "</ul>\n";
}

void Page::picture(const Picture& picture) {
  body_ += "<figure>\n" + picture.svg + "<figcaption>" + escaped(picture.text) + "</figcaption>\n</figure>\n";
}

std::string Page::html() const {
  return "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
         "content=\"width=device-width,initial-scale=1\"><title>" +
         escaped(title_) + "</title>\n" + kStyle + "</head><body>\n<h1>" + escaped(title_) + "</h1>\n" + body_ +
         "</body></html>\n";
}

}  // namespace mrc::picture
