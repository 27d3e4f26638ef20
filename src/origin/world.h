// What the judge asks back of the living program.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "origin/place.h"
#include "origin/target.h"
#include "watch/ledger.h"
#include "watch/tensor_state.h"

namespace nanscope {

struct EventFacts;  // event_facts.h
struct OpInfo;      // op_record.h

using RootId = std::uint64_t;  // of a backward() or autograd.grad() call

// A leaf tensor and its gradient.
struct LeafGrad {
  TensorId leaf;
  TensorId grad;  // 0: none
  std::uint64_t version = 0;
  TensorState state;  // of the gradient
  bool in_optimizer = false;
  // It belongs to another thread, which may be writing it: nothing but `leaf` is known now.
  bool unanswered = false;
  TargetName name;
};

// The living program, asked back by the judge.
class World : public StorageKeeper {
 public:
  // Nothing if the leaf died.
  virtual std::optional<LeafGrad> leaf(TensorId leaf) = 0;
  // The same without a scan: only `grad` and `version` are looked at. Asked at every reported op
  // while a gradient is pending.
  virtual std::optional<LeafGrad> peek(TensorId leaf) { return this->leaf(leaf); }
  // Leaves and buffers whose values now lie in another storage than when they were last looked at:
  // the program assigned `.data` or called set_(), and no op wrote them.
  struct Replaced {
    TensorState state;
    TargetName name;
    Target target = Target::kParameter;
  };
  virtual std::vector<Replaced> replaced_values() { return {}; }
  // Facts of a tensor that nobody made and no op has read: one of those just reported.
  virtual std::shared_ptr<const EventFacts> facts_of(const TensorState&) { return nullptr; }
  // The collective that wrote this memory, if one did.
  struct Receipt {
    std::uint64_t number = 0;
    const OpInfo* op = nullptr;
    Place place;            // where it was called
    bool declared = false;  // whoever gave it had written it on purpose: a mask
  };
  virtual std::optional<Receipt> receipt_of(const TensorState&) { return std::nullopt; }
};

}  // namespace nanscope
