// Bad tensors that one process of a run hands to another, and how each became bad.
//
// All processes of a run append to one file in memory. Who is given a tensor that no op of its own
// made looks there for the elements that are bad: if it was handed over, its story begins in the
// process that made it, not here.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "origin/host_numbers.h"
#include "records/finding.h"

namespace nanscope::torch_adapter {

class Handed {
 public:
  struct Story {
    Finding finding;
    std::int64_t pid = 0;
    bool exact = false;  // the very elements; else only such a value
  };

  // Empty: there are no other processes.
  void open(std::string path, std::int64_t pid);
  [[nodiscard]] bool is_open() const noexcept { return !path_.empty(); }

  // Whether this process has told of that origin already.
  [[nodiscard]] bool knows(std::uint64_t origin) const { return story_of_.contains(origin); }
  // A tensor with these bad elements is handed over. `finding` is needed for a new origin only.
  void add(const BadPattern& pattern, Kinds kinds, std::uint64_t origin, const Finding* finding);
  // What was handed over with these elements; else the last that others handed over with such a
  // value; else nothing.
  [[nodiscard]] std::optional<Story> find(const BadPattern& pattern, Kinds kinds) const;

 private:
  std::string path_;
  std::int64_t pid_ = 0;
  std::unordered_map<std::uint64_t, std::uint64_t>
      story_of_;  // where the story of an origin stands
  std::set<std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>> written_;
};

}  // namespace nanscope::torch_adapter
