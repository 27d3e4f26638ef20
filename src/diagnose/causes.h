// Every cause there is: its id, who is to blame, and its page.
//
// The pages are docs/causes/ID.md, built into the library; a test ties page, id and rule
// together.
#pragma once

#include <span>
#include <string_view>

namespace nanscope {

struct CauseInfo {
  std::string_view id;
  std::string_view to_blame;  // the code, the data, a hyper-parameter
  std::string_view summary;
  std::string_view title;  // a few words for people, beside the id
};

[[nodiscard]] std::span<const CauseInfo> all_causes() noexcept;
[[nodiscard]] const CauseInfo* find_cause(std::string_view id) noexcept;
// The text of its page; empty for an id that does not exist.
[[nodiscard]] std::string_view page_of(std::string_view id) noexcept;

}  // namespace nanscope
