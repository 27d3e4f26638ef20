// The watch over this process: the judge with its view of the program, and what is kept between
// one op and the next. One per process, made when torch is first watched and never destroyed.
//
// Each member is a thing of its own that knows nothing of the others; who needs one, includes
// this header for the way to it.
#pragma once

#include <string>

#include "adapters/torch/interpose/new_ops.h"
#include "adapters/torch/program/history.h"
#include "adapters/torch/watch/disarm.h"
#include "adapters/torch/watch/proofs.h"
#include "adapters/torch/watch/stopping.h"
#include "adapters/torch/watch/world.h"
#include "adapters/torch/watch/written_storages.h"
#include "origin/judge.h"

namespace nanscope::torch_adapter {

class Watcher {
 public:
  static Watcher& get() noexcept { return *instance_; }

  TorchWorld world;
  Judge judge{world};
  const Ledger& ledger = judge.ledger();  // for the lock-free question
  WrittenStorages storages;
  History history;
  Stopping stopping;
  Disarming disarming;
  NewOps new_ops;
  Proofs proofs;

 private:
  Watcher() = default;
  static Watcher* const instance_;  // made when the module is loaded
};

}  // namespace nanscope::torch_adapter
