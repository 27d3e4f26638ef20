#include "adapters/torch/session/warnings.h"

#include <algorithm>
#include <utility>

namespace nanscope::torch_adapter {
namespace {

bool say_the_same(const Finding& one, const Finding& other) {
  if (!one.forewarning || !other.forewarning || one.origin.site.file.empty()) return false;
  const auto words = [](const Forewarning& warning) {
    return std::tie(warning.id, warning.name, warning.dtype, warning.value, warning.goes_in);
  };
  const auto place = [](const Site& site) { return std::tie(site.file, site.line, site.col); };
  return words(*one.forewarning) == words(*other.forewarning) &&
         place(one.origin.site) == place(other.origin.site);
}

}  // namespace

bool Warnings::is_news(const std::string& id, StackId stack, StorageId weight) {
  return warned_.insert({id, stack, weight.value}).second;
}

void Warnings::keep(Finding finding) {
  if (kept_.size() >= kMost) return;
  const bool known = std::any_of(kept_.begin(), kept_.end(), [&](const Finding& other) {
    return say_the_same(finding, other);
  });
  if (!known) kept_.push_back(std::move(finding));
}

}  // namespace nanscope::torch_adapter
