// A wrapper: our code in front of one kernel of one op, with all that is known of the op.
//
// Made once at installation and never freed: a thread may be inside.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/util/SmallVector.h>

#include <optional>
#include <string>
#include <vector>

#include "adapters/torch/interpose/signature.h"
#include "adapters/torch/interpose/trampoline.h"
#include "adapters/torch/ops/op_table.h"
#include "adapters/torch/ops/scan_rule.h"
#include "origin/op_record.h"
#include "scan/ceiling.h"

namespace nanscope::torch_adapter {

struct ArgumentInfo {
  SlotKind kind = SlotKind::kOther;
  bool written = false;
  bool hidden_write = false;  // BatchNorm's running statistics: the schema does not say so
  bool read = true;           // false for out= and for targets that are overwritten
};

// Where the results are after the call.
enum class ResultShape : std::uint8_t { kNone, kOne, kMany, kWrittenArguments };

struct ResultItem {
  std::uint16_t offset;  // in the result slot
  enum Kind : std::uint8_t { kTensor, kTensorVector, kSymInt, kOther } kind;
};

class Operands;
using CeilingRule = int (*)(const Operands&);  // Note [Rule M]
using SignRule = Sign (*)(const Operands&);

// What every call reads comes first, in two lines of cache: large kernels leave none of it there.
struct alignas(128) Wrapper final : c10::OperatorKernel {
  FormerKernel former{};  // at a fixed offset, read by the trampolines
  ResultShape shape = ResultShape::kNone;
  ScanRule rule = ScanRule::kScan;
  bool other_device = false;   // not the CPU's kernel: Note [Other devices are counted]
  bool collective = false;     // in flight when it returns: its memory is written by others
  bool transparent = false;    // the ops inside are the program's own: foreach loops, custom ops
  bool writes = false;         // an argument
  bool in_place = false;       // writes an argument that it also reads
  bool destroys = false;       // in place, and able to make a NaN of what it destroys
  bool rows_alike = false;     // softmax: one NaN makes all of its row NaN
  bool pointwise = false;      // element by element, with broadcasting
  bool partial_write = false;  // index_put_ and kin: bad elements it leaves alone were not read
  bool typed = false;
  bool has_scalars = false;
  bool hidden_writes = false;   // of some argument
  bool random = false;          // draws random numbers: never run again
  bool looks_aside = false;     // healthy calls tell something too: see look_aside
  bool adds_guard = false;      // add, clamp: where an eps comes in
  bool untried_device = false;  // see Sight::kUntriedDevice
  bool can_wait = false;        // Note [Ops that are put off]
  // Note [The quick look]
  bool quick = false;
  bool asks_operands = false;         // its result does not show what came in
  bool asks_numbers = false;          // nor what a number argument is
  std::uint8_t written_argument = 0;  // the result, where it is an argument
  CeilingRule ceiling_rule = nullptr;
  SignRule sign_rule = nullptr;
  c10::SmallVector<ArgumentInfo, 8> arguments;
  c10::SmallVector<ResultItem, 4> results;
  OpInfo info;
  std::vector<std::string> argument_names;
  c10::KernelFunction original;
  std::optional<c10::OperatorHandle> handle;
  OpFlags flags = OpFlags::kPlain;  // of the op; healthy calls read the members above

  Wrapper(std::string name, const c10::KernelFunction& kernel)
      : info{std::move(name), {}}, original(kernel) {}
  // The boxed wrapper: ops of other libraries and the few without a trampoline.
  void operator()(const c10::OperatorHandle& op, c10::DispatchKeySet keys, c10::Stack* stack);
};

}  // namespace nanscope::torch_adapter
