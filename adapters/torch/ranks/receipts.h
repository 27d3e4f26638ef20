// Which memory was written by a collective, and by which one; what this rank gave into others.
//
// Note [Collectives have a far side]
// A collective returns before it has ended, and writes memory that no watched op shows. What is
// in it later came from the ranks of its group. So the call itself is noted: its group and its
// number there, which are the same on every rank, and the storages it writes. Whoever finds such
// memory bad, and knows of no op of this process that made it so, asks for the receipt; what other
// ranks gave into that call they have said before they made it (Board in nanscope/ranks/board.py).
// So the giver is known by the order of the calls, whatever the clocks say.
#pragma once

#include <ATen/core/Tensor.h>

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "adapters/torch/watch/locks.h"
#include "origin/world.h"
#include "records/collective.h"
#include "records/finding.h"

namespace nanscope::torch_adapter {

struct Receipt {
  std::uint64_t number = 0;
  const OpInfo* op = nullptr;
  Place place;
  Collective call;
  // Of the reducer of DistributedDataParallel: its number in this backward, and its bytes.
  std::int64_t ordinal = -1;
  std::int64_t bytes = 0;
  // Once other ranks were asked.
  bool asked = false;
  bool declared = false;  // all that was given is meant to be there
  std::vector<Finding> elsewhere;
};

class Receipts {
 public:
  // The number of this call in its group, or of this message on its way.
  [[nodiscard]] std::int64_t next_number(const std::string& group,
                                         const std::optional<Message>& message);
  // A backward() or grad() was called, inside another or not.
  void backward_begins(bool nested);
  // How many such calls of the group came before in this backward. -1 where others are inside it,
  // for then nobody knows.
  [[nodiscard]] std::int64_t ordinal_in_backward(const std::string& group);
  // Whether a message to this rank, under this tag, was ever received from whoever sent one. Then
  // nobody knows any more which number the next one has on its way.
  void received_from_any(const std::string& group, int to, std::int64_t tag);
  [[nodiscard]] bool is_mixed(const std::string& group, int to, std::int64_t tag);
  // No call was noted yet.
  [[nodiscard]] bool is_first();
  void note(Receipt receipt, const std::vector<at::Tensor>& written);
  // The last call of this thread, which still runs, has this memory of its own.
  void note_more(const c10::TensorImpl& tensor);
  // A thread of the backend wrote `to` from `from`: what was received there is here too.
  // False if nothing was.
  bool carry(const at::Tensor& from, const at::Tensor& to);
  // The last call that wrote this storage.
  [[nodiscard]] std::optional<Receipt> of_storage(StorageId storage);
  // One that `of_storage` has answered.
  [[nodiscard]] std::optional<Receipt> of_number(std::uint64_t number);
  void answered(const Receipt& receipt);

  // A value of this origin was given into a collective.
  void gave(EventId origin, const Collective& call);
  [[nodiscard]] std::vector<Collective> given_of(EventId origin);

 private:
  struct Written {
    c10::weak_intrusive_ptr<c10::StorageImpl> storage;
    std::shared_ptr<Receipt> receipt;
  };
  static constexpr std::size_t kFirstSweep = 4096;
  static constexpr std::size_t kMostKept = 1024;

  Lock lock_{LockRank::kReceipts};
  std::uint64_t last_ = 0;
  std::size_t sweep_at_ = kFirstSweep;
  std::map<std::pair<std::string, std::optional<Message>>, std::int64_t> numbers_;
  std::set<std::tuple<std::string, int, std::int64_t>> mixed_;  // group, receiver and tag
  // Of the backward that runs.
  bool is_plain_ = false;  // no other was called inside it
  std::unordered_map<std::string, std::int64_t> ordinals_;
  std::unordered_map<StorageId, Written> written_;
  std::unordered_map<std::thread::id, std::shared_ptr<Receipt>> last_of_thread_;
  std::deque<std::shared_ptr<Receipt>> kept_;  // those that were asked for, newest last
  std::deque<std::pair<EventId, Collective>> given_;
};

}  // namespace nanscope::torch_adapter
