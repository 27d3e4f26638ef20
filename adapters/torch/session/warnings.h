// What a session warns of before the fact, and the errors that its program allows: each once, and
// no more than can be read. The session's lock guards it.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "adapters/torch/program/frames.h"
#include "origin/place.h"
#include "records/finding.h"
#include "watch/tensor_state.h"

namespace nanscope::torch_adapter {

class Warnings {
 public:
  // False if there was a warning of this in any session of the process.
  [[nodiscard]] bool is_news(const std::string& id, StackId stack, StorageId weight);
  // Nothing is added where the same is said of the same place, called from elsewhere.
  void keep(Finding finding);
  void begin_anew() { kept_.clear(); }
  [[nodiscard]] const std::vector<Finding>& all() const { return kept_; }

 private:
  static constexpr std::size_t kMost = 20;

  std::vector<Finding> kept_;
  std::set<std::tuple<std::string, StackId, std::uint64_t>> warned_;
};

}  // namespace nanscope::torch_adapter
