// SPDX-License-Identifier: Apache-2.0
/// One page of HTML that needs nothing else: text, tables, pictures.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "picture/pictures.hpp"

namespace mrc::picture {

/// What is handed in is text; the page escapes it.
class Page {
 public:
  explicit Page(std::string title) : title_(std::move(title)) {}

  /// `good`: how the line is coloured.
  void verdict(std::string_view text, bool good);
  void heading(std::string_view text);
  void subheading(std::string_view text, bool good);
  void paragraph(std::string_view text);
  /// Lines as they are.
  void lines(std::string_view text);
  void table(const std::vector<std::string>& head, const std::vector<std::vector<std::string>>& rows);
  /// A list of files beside the page: name and what it is.
  void links(const std::vector<std::pair<std::string, std::string>>& files);
  void picture(const Picture& picture);

  std::string html() const;

 private:
  std::string title_, body_;
};

}  // namespace mrc::picture
