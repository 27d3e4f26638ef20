// A collective operation between ranks, and what was given into it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace nanscope {

// What one rank gave.
struct Giver {
  int rank = 0;
  std::int64_t nan = 0;
  std::int64_t pos_inf = 0;
  std::int64_t neg_inf = 0;
};

// Every rank of the group calls the same collectives in the same order, so that group and sequence
// name one call on all of them. Messages from one rank to another are counted for themselves: then
// the way of the message belongs to the name.
struct Collective {
  std::string op;             // c10d::allreduce_
  std::string group;          // torch's own name of it: 0 is the default group
  std::string way;            // of a message: "1>0", in ranks of the group, and its tag; else empty
  std::int64_t sequence = 0;  // counted from 0, by group and way
  int ranks = 0;              // in the group
  bool reduces = false;       // it computes: what comes out may be made by it
  // Of DistributedDataParallel, whose gradients it carried; nothing if that is not known.
  std::optional<int> bucket;
  // Those that gave something non-finite, lowest rank first. Meaningless unless all could be asked.
  std::vector<Giver> givers;
  bool givers_known = false;

  [[nodiscard]] bool is_same_call(const Collective& other) const {
    return group == other.group && way == other.way && sequence == other.sequence;
  }
};

}  // namespace nanscope
