// A collective operation between ranks, and what was given into it.
#pragma once

#include <compare>
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

// The way of a message, in ranks of the group.
struct Message {
  std::optional<int> sender;  // nothing: it was received from whoever sent one
  int receiver = 0;
  std::int64_t tag = 0;

  [[nodiscard]] auto operator<=>(const Message&) const = default;
};

// Every rank of the group calls the same collectives in the same order, so that group and sequence
// name one call on all of them. Messages from one rank to another are counted for themselves: then
// the message belongs to the name.
struct Collective {
  std::string op;                  // c10d::allreduce_
  std::string group;               // torch's own name of it: 0 is the default group
  std::optional<Message> message;  // of send and recv; the others have none
  std::int64_t sequence = 0;       // counted from 0, by group and message
  int ranks = 0;                   // in the group
  bool reduces = false;            // it computes: what comes out may be made by it
  // Of DistributedDataParallel, whose gradients it carried; nothing if that is not known.
  std::optional<int> bucket;
  // Those that gave something non-finite, lowest rank first. Meaningless unless all could be asked.
  std::vector<Giver> givers;
  bool givers_known = false;

  [[nodiscard]] bool is_same_call(const Collective& other) const {
    return group == other.group && message == other.message && sequence == other.sequence;
  }
};

}  // namespace nanscope
