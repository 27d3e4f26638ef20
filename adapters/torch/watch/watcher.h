// The watch over this process: the judge with its view of the program, and what is kept between
// one op and the next. One per process, made when torch is first watched and never destroyed.
//
// It owns things that know nothing of each other, each with its own invariants and its own way of
// being shared between threads; who needs one, includes this header for the way to it.
#pragma once

#include "adapters/torch/device/readable_devices.h"
#include "adapters/torch/device/window.h"
#include "adapters/torch/interpose/new_ops.h"
#include "adapters/torch/interpose/other_devices.h"
#include "adapters/torch/program/history.h"
#include "adapters/torch/ranks/board.h"
#include "adapters/torch/ranks/receipts.h"
#include "adapters/torch/watch/backward_calls.h"
#include "adapters/torch/watch/disarm.h"
#include "adapters/torch/watch/hit_looks.h"
#include "adapters/torch/watch/kept_function.h"
#include "adapters/torch/watch/outside.h"
#include "adapters/torch/watch/proofs.h"
#include "adapters/torch/watch/stopping.h"
#include "adapters/torch/watch/world.h"
#include "adapters/torch/watch/written_storages.h"
#include "origin/judge.h"

struct _object;

namespace nanscope::torch_adapter {

class Watcher {
 public:
  static Watcher& get() noexcept { return *instance_; }

  // Under its own lock, which is never waited for with the GIL held.
  [[nodiscard]] Judge& judge() noexcept { return judge_; }
  [[nodiscard]] const Judge& judge() const noexcept { return judge_; }
  // The judge's ledger, for the question that takes no lock.
  [[nodiscard]] const Ledger& ledger() const noexcept { return ledger_; }
  // Under the judge's lock.
  [[nodiscard]] HitLooks& module_looks() noexcept { return module_looks_; }
  // Masks are carried in every step: they leave the looks at what was born alone.
  [[nodiscard]] HitLooks& result_looks(bool born) noexcept { return result_looks_[born ? 1 : 0]; }
  // Each under a lock of its own; what is asked on every op takes none.
  [[nodiscard]] TorchWorld& world() noexcept { return world_; }
  [[nodiscard]] WrittenStorages& storages() noexcept { return storages_; }
  [[nodiscard]] const WrittenStorages& storages() const noexcept { return storages_; }
  [[nodiscard]] Disarming& disarming() noexcept { return disarming_; }
  [[nodiscard]] NewOps& new_ops() noexcept { return new_ops_; }
  [[nodiscard]] const NewOps& new_ops() const noexcept { return new_ops_; }
  [[nodiscard]] OtherDevices& other_devices() noexcept { return other_devices_; }
  [[nodiscard]] ReadableDevices& readable_devices() noexcept { return readable_devices_; }
  [[nodiscard]] const ReadableDevices& readable_devices() const noexcept {
    return readable_devices_;
  }
  // Ops of devices that wait to be judged; under its own lock.
  [[nodiscard]] Window& window() noexcept { return window_; }
  [[nodiscard]] Proofs& proofs() noexcept { return proofs_; }
  [[nodiscard]] bool checks_proofs() const noexcept { return proofs_.are_checked(); }
  [[nodiscard]] BackwardCalls& backward_calls() noexcept { return backward_calls_; }
  [[nodiscard]] Outside& outside() noexcept { return outside_; }
  [[nodiscard]] Receipts& receipts() noexcept { return receipts_; }
  // With the GIL held.
  [[nodiscard]] History& history() noexcept { return history_; }
  [[nodiscard]] const History& history() const noexcept { return history_; }
  [[nodiscard]] Stopping& stopping() noexcept { return stopping_; }
  [[nodiscard]] BoardOfRanks& board_of_ranks() noexcept { return board_of_ranks_; }
  // The Python function that makes an operand again (hit/remade.h); null if there is none.
  [[nodiscard]] _object* make_again() const noexcept { return make_again_.get(); }
  void make_again_by(_object* function) { make_again_.keep(function); }

 private:
  Watcher() = default;
  static Watcher* const instance_;  // made when the module is loaded

  TorchWorld world_;
  Judge judge_{world_};
  const Ledger& ledger_ = judge_.ledger();
  WrittenStorages storages_;
  History history_;
  Stopping stopping_;
  Disarming disarming_;
  NewOps new_ops_;
  OtherDevices other_devices_;
  ReadableDevices readable_devices_;
  Window window_;
  Proofs proofs_;
  BackwardCalls backward_calls_;
  HitLooks module_looks_{32};  // all that the modules behind a hit kept
  HitLooks result_looks_[2]{HitLooks{256}, HitLooks{256}};  // a large result on the way
  KeptFunction make_again_;
  Outside outside_;
  Receipts receipts_;
  BoardOfRanks board_of_ranks_;
};

}  // namespace nanscope::torch_adapter
