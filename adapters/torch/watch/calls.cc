// The hot path: what happens around every kernel call.
//
// Note [Only the outermost kernel is judged]
// Kernels call kernels: an inner fill_ prepares a buffer that the outer one then writes,
// logsumexp takes the log of a zero it made itself. What an op does inside is its own
// affair; its results are looked at when it returns. List ops and ops of other libraries
// are transparent: the ops inside them are the program's.
#include <algorithm>
#include <cmath>
#include <memory>

#include "adapters/torch/device/host_copies.h"
#include "adapters/torch/device/probe.h"
#include "adapters/torch/hit/hit.h"
#include "adapters/torch/interpose/arguments.h"
#include "adapters/torch/interpose/install.h"
#include "adapters/torch/ops/ceiling_rule.h"
#include "adapters/torch/ops/sign_rule.h"
#include "adapters/torch/program/nodes.h"
#include "adapters/torch/ranks/collectives.h"
#include "adapters/torch/watch/before.h"
#include "adapters/torch/watch/gil.h"
#include "adapters/torch/watch/own_time.h"
#include "adapters/torch/watch/places.h"
#include "adapters/torch/watch/put_off.h"
#include "adapters/torch/watch/quick_look.h"
#include "adapters/torch/watch/threads.h"
#include "adapters/torch/watch/ticks.h"
#include "adapters/torch/watch/watcher.h"

namespace nanscope::torch_adapter {
namespace {

Wrapper& wrapper_of(const Call& call) { return *static_cast<Wrapper*>(call.wrapper); }

// The largest magnitude a type holds; infinity where it is not known.
double largest_in(c10::ScalarType type) {
  switch (type) {
    case at::kBool:
      return 1;
    case at::kByte:
      return 255;
    case at::kChar:
      return 128;
    case at::kShort:
      return 32768;
    case at::kUInt16:
      return 65535;
    case at::kInt:
    case at::kUInt32:
      return 0x1p32;
    case at::kLong:
    case at::kUInt64:
      return 0x1p64;
    default:
      const DType dtype = dtype_of(type);
      return is_scannable(dtype) ? largest_of(dtype) : INFINITY;
  }
}

// To infinity, or to NaN in a type that has none. The largest floats round up to Inf even in
// bfloat16, which has the same exponents.
bool may_leave_range(c10::ScalarType from, c10::ScalarType to) {
  return from != to && largest_in(from) > largest_in(to);
}

bool number_keeps_finite(const Wrapper& wrapper, const at::Tensor& number) {
  if (!number.defined() || !is_number(number)) return false;
  const double size = std::fabs(number_in(number));
  return wrapper.rule == ScanRule::kMultiplies ? size > 1e-30 && size <= 1
                                               : size >= 1 && size < 1e30;
}

// A wider operand or a number beyond the largest of the result's type is rounded to Inf or NaN
// on the way, whatever the op.
bool fits(const Wrapper& wrapper, const Call& call, c10::ScalarType type) {
  bool fitting = true;
  each_tensor(wrapper, call, [&](const at::Tensor& input, std::size_t, int) {
    const c10::ScalarType from = c10::typeMetaToScalarType(input.unsafeGetTensorImpl()->dtype());
    // The size of a complex number may not fit its own type: abs(3e38 + 3e38i).
    if (from != type) fitting &= !c10::isComplexType(from) && !may_leave_range(from, type);
  });
  return fitting &&
         !(wrapper.has_scalars && largest_number(wrapper, call) > largest_of(dtype_of(type)));
}

// A watched op wrote it, and the ledger knows of nothing bad in it. Never said of memory that
// somebody else owns.
bool is_known_finite(const c10::TensorImpl& impl) {
  const Watcher& watcher = Watcher::get();
  const c10::StorageImpl* storage = storage_of(impl);
  return storage != nullptr && watcher.storages().is_made(storage) &&
         !watcher.ledger().knows(storage_id(impl));
}

bool takes_only_finite(const Wrapper& wrapper, const Call& call) {
  bool finite = true;
  each_tensor(wrapper, call, [&](const at::Tensor& input, std::size_t argument, int) {
    if (wrapper.arguments[argument].read) finite &= is_known_finite(*input.unsafeGetTensorImpl());
  });
  return finite;
}

// Note [Rule V]
bool passes(const Wrapper& wrapper, const Call& call, const c10::TensorImpl& output) {
  const c10::ScalarType type = c10::typeMetaToScalarType(output.dtype());
  if (wrapper.rule == ScanRule::kScan || c10::isComplexType(type) || call.arguments == nullptr)
    return false;
  switch (wrapper.rule) {
    case ScanRule::kCasts: {
      const std::size_t source = wrapper.shape == ResultShape::kWrittenArguments ? 1 : 0;
      const at::Tensor& from = by_reference<at::Tensor>(call.arguments[source]);
      return from.defined() && !may_leave_range(from.scalar_type(), type);
    }
    case ScanRule::kMultiplies:
    case ScanRule::kDivides: {
      // Integers become numbers of the default type, which may be half precision.
      const at::Tensor& from = by_reference<at::Tensor>(call.arguments[0]);
      return from.defined() && !may_leave_range(from.scalar_type(), type) &&
             number_keeps_finite(wrapper, by_reference<at::Tensor>(call.arguments[1]));
    }
    case ScanRule::kPools:
      return !has_empty_windows(wrapper, call) && fits(wrapper, call, type);
    case ScanRule::kPuts:
      return !flag_of(wrapper, call, "accumulate").value_or(true) && fits(wrapper, call, type);
    case ScanRule::kBounded:
      return takes_only_finite(wrapper, call) && fits(wrapper, call, type);
    default:
      return fits(wrapper, call, type);
  }
}

struct Look {
  bool bad = false;            // a result is not finite
  bool suspect = false;        // something the ledger knows, or nobody watched, is involved
  bool scan_results = false;   // rule V holds, but what went in was never seen
  bool passed_over = false;    // a result was neither scanned nor proved
  bool tangled = false;        // an operand is another part of the memory that is written
  std::size_t grows_from = 0;  // bytes before a resize_
  // Of an op that is put off: looks at a device go here, and nothing is known yet.
  std::vector<at::Tensor>* later = nullptr;
  bool again = false;  // it was put off, and is judged now

  [[nodiscard]] bool is_later(const c10::TensorImpl& tensor) const {
    return __builtin_expect(later != nullptr, 0) && !is_on_host(tensor);
  }
};

bool is_bad(const c10::TensorImpl& tensor, const Look& look) {
  if (!look.is_later(tensor)) return !is_finite(tensor);
  look.later->push_back(norm_on_device(tensor));
  return false;
}

// Left out of the scan whatever goes in.
bool is_left_out(const Wrapper& wrapper) {
  return wrapper.rule != ScanRule::kScan && wrapper.rule != ScanRule::kBounded &&
         wrapper.rule != ScanRule::kReinterprets;
}

Extent scanned(const c10::TensorImpl& output, Look& look) {
  if (look.is_later(output)) {
    look.later->push_back(norm_on_device(output));
    return {};
  }
  const int found = ceiling_of(output);
  look.bad |= found == kNoCeiling;
  return {found, Sign::kAny};
}

// One element that is not finite makes a whole row of a softmax NaN: the sum under it is.
Extent scanned_by_row(const Call& call, const at::Tensor& output, ThreadWatch& thread, Look& look) {
  OwnedView view(output);
  auto dim = by_value<std::int64_t>(call.arguments[1]);
  if (dim < 0) dim += output.dim();
  thread.count_bytes(output.numel() / output.size(dim) * output.itemsize());
  view.sizes[dim] = 1;
  look.bad |= !all_finite(view.view());
  return {look.bad ? kNoCeiling : 0, Sign::kNotNegative};
}

// Written while it is read elsewhere in the call, or several times over: what holds for one element
// and its operands holds for none.
bool is_tangled(const Wrapper& wrapper, const Look& look, const c10::TensorImpl& output) {
  return wrapper.writes && (look.tangled || overlaps_itself(output));
}

// What is known of a result: proved, or found by a scan, or nothing where rule V holds.
Extent extent_of_result(const Wrapper& wrapper, const Call& call, const at::Tensor& result,
                        int number, ThreadWatch& thread, Look& look) {
  const c10::TensorImpl& output = *result.unsafeGetTensorImpl();
  const std::size_t bytes = output.numel() * output.itemsize();
  if (__builtin_expect(is_tangled(wrapper, look, output), 0)) {
    thread.count_bytes(bytes);
    return scanned(output, look);
  }
  const bool passed = passes(wrapper, call, output);
  if (bytes <= kSmallResult && __builtin_expect(!Watcher::get().proofs().are_checked(), 1)) {
    if (!passed) {
      thread.count_bytes(bytes);
      return scanned(output, look);
    }
    // On a device the look would cost more than its number is good for.
    const int found = is_on_host(output) ? ceiling_of(output) : kNoCeiling;
    look.passed_over |= found == kNoCeiling;
    return {found, Sign::kAny};
  }
  const c10::ScalarType type = c10::typeMetaToScalarType(output.dtype());
  Extent extent{proved_ceiling(wrapper, call, number, type), Sign::kAny};
  look.passed_over |= passed && extent.ceiling == kNoCeiling;
  if (extent.ceiling == kNoCeiling && !passed) {
    if (is_left_out(wrapper) && wrapper.has_scalars && has_nonfinite_number(wrapper, call)) {
      look.passed_over = true;
      look.suspect = true;  // declared: what is made of it is looked at there
    } else if (wrapper.rows_alike && call.arguments != nullptr && output.dim() > 0) {
      extent = scanned_by_row(call, result, thread, look);
    } else {
      thread.count_bytes(bytes);
      extent = scanned(output, look);
    }
  }
  if (wrapper.sign_rule != nullptr && !c10::isComplexType(type) && !is_negated(output))
    extent.sign = proved_sign(wrapper, call);
  Proofs& proofs = Watcher::get().proofs();
  if (__builtin_expect(proofs.are_checked(), 0)) proofs.check(wrapper, result, extent);
  return extent;
}

// Note [Threads of others]
bool others_write_after(const Call& call) {
  return is_inside_collective(call) || (!this_thread().is_of_python() && !is_known_to_python());
}

void remember_written(const Wrapper& wrapper, const Call& call, const c10::TensorImpl& impl,
                      Extent extent) {
  Watcher& watcher = Watcher::get();
  const c10::StorageImpl* storage = storage_of(impl);
  if (is_foreign(impl)) {
    if (!others_write_after(call))
      watcher.storages().note_shared_written(impl.unsafe_storage(),
                                             c10::typeMetaToScalarType(impl.dtype()));
    return;
  }
  if (__builtin_expect(others_write_after(call), 0)) {
    watcher.storages().unmark_made(storage);
    if (is_inside_collective(call)) watcher.receipts().note_more(impl);
    return;
  }
  const c10::ScalarType type = c10::typeMetaToScalarType(impl.dtype());
  watcher.storages().note_written(storage, type);
  const bool partly = wrapper.partial_write || !fills_its_storage(impl);
  if (partly && !watcher.storages().is_made(storage)) return;
  if (partly) {
    const Extent before = watcher.storages().extent_of(storage, type);
    extent.ceiling = std::max(extent.ceiling, before.ceiling);
    if (extent.sign != before.sign) extent.sign = Sign::kAny;
  }
  watcher.storages().mark_made(storage, type, extent);
}

// Written by an op that does not show how large the numbers are.
void forget_ceiling(const c10::TensorImpl& impl) {
  Watcher& watcher = Watcher::get();
  const c10::StorageImpl* storage = storage_of(impl);
  if (storage != nullptr && watcher.storages().is_made(storage))
    watcher.storages().mark_made(storage, at::kFloat, {});
}

// The bits of integers, viewed as floats, are data: they are looked at where they are read.
bool takes_integers(const Call& call) {
  if (call.arguments == nullptr) return false;
  const at::Tensor& viewed = by_reference<at::Tensor>(call.arguments[0]);
  return viewed.defined() && holds_integers(*viewed.unsafeGetTensorImpl());
}

// The same bits are numbers of two types from here on, one of them floating. Complex numbers are
// pairs of their own.
void note_types(const Call& call, const at::Tensor& output) {
  if (call.arguments == nullptr || !output.has_storage()) return;
  const at::Tensor& viewed = by_reference<at::Tensor>(call.arguments[0]);
  if (!viewed.defined()) return;
  const auto number = [](const at::Tensor& t) { return c10::toRealValueType(t.scalar_type()); };
  if (number(viewed) == number(output)) return;
  if (!c10::isFloatingType(number(viewed)) && !c10::isFloatingType(number(output))) return;
  Watcher::get().storages().reinterpret(output.storage(), viewed.scalar_type(),
                                        output.scalar_type());
}

void look_at_output(const Wrapper& wrapper, const Call& call, const at::Tensor& output, int number,
                    ThreadWatch& thread, Look& look) {
  Watcher& watcher = Watcher::get();
  const c10::TensorImpl& impl = *output.unsafeGetTensorImpl();
  const Sight sight = sight_of(impl);
  if (wrapper.rule == ScanRule::kReinterprets) note_types(call, output);
  if (sight != Sight::kWatched) {
    if (sight != Sight::kNothing && sight != Sight::kWrapped)
      thread.count_unseen(static_cast<std::size_t>(sight));
    // Integers may be the bits of floats: read as such, they are looked at like data. Those that
    // are written over floats of the program's own stay its own.
    if (sight == Sight::kNothing && impl.has_storage() && impl.numel() != 0) {
      if (wrapper.rule == ScanRule::kReinterprets) return;  // nothing is written yet
      if (wrapper.writes)
        watcher.storages().note_written(storage_of(impl), c10::typeMetaToScalarType(impl.dtype()));
      if (wrapper.writes && watcher.storages().is_made(storage_of(impl))) {
        watcher.storages().address_given(impl.unsafe_storage());
      } else {
        watcher.storages().unmark_made(storage_of(impl));
      }
    } else {
      forget_ceiling(impl);
    }
    return;
  }
  if (wrapper.rule == ScanRule::kReinterprets) {
    if (!takes_integers(call)) look.bad |= !is_finite(impl);
    return;
  }
  if (wrapper.rule == ScanRule::kBorrows) {
    watcher.storages().put_under(output);
    return;
  }
  if (wrapper.rule == ScanRule::kAllocates) {
    if (output.storage().nbytes() <= look.grows_from) return;  // resize_ within its memory
    watcher.storages().unmark_made(storage_of(impl));
    if (is_inside_collective(call))
      watcher.receipts().note_more(impl);
    else if (output.is_floating_point())
      watcher.storages().note_allocation(&wrapper.info, output, current_place());
    return;
  }
  if (!watcher.ledger().empty()) look.suspect |= watcher.ledger().knows(storage_id(impl));
  if (wrapper.rule == ScanRule::kLifts) {
    // NumPy's own memory is no constant of the program: it is imported when it is read.
    watcher.storages().unmark_made(storage_of(impl));
    look.bad |= !is_foreign(impl) && !is_finite(impl);
    return;
  }
  remember_written(wrapper, call, impl,
                   extent_of_result(wrapper, call, output, number, thread, look));
}

// Of an op that is judged late: what there is to remember of its memory was remembered when it ran.
void look_again_at_output(const Wrapper& wrapper, const Call& call, const at::Tensor& output,
                          int number, ThreadWatch& thread, Look& look) {
  const c10::TensorImpl& impl = *output.unsafeGetTensorImpl();
  if (sight_of(impl) != Sight::kWatched) return;
  look.suspect |= Watcher::get().ledger().knows(storage_id(impl));
  (void)extent_of_result(wrapper, call, output, number, thread, look);
}

// Statistics that a layer keeps are small: a look, whether they were written in this call or not.
void look_at_hidden_write(const Wrapper& wrapper, const Call& call, const c10::TensorImpl& impl,
                          ThreadWatch& thread, Look& look) {
  if (sight_of(impl) != Sight::kWatched) return;
  thread.count_bytes(impl.numel() * impl.itemsize());
  remember_written(wrapper, call, impl, scanned(impl, look));
}

// Ops whose results do not show what came in: they pass it on unscanned, test it or choose.
bool hides_inputs(const Wrapper& wrapper) {
  const OpTraits& traits = wrapper.info.traits;
  return is_left_out(wrapper) || traits.tests || traits.compares || traits.deliberate;
}

void look_at_inputs(const Wrapper& wrapper, const Call& call, std::int64_t results, Look& look) {
  Watcher& watcher = Watcher::get();
  const bool ledger_empty = watcher.ledger().empty();
  const bool hides = hides_inputs(wrapper);
  if (ledger_empty && !hides) return;
  each_tensor(wrapper, call, [&](const at::Tensor& input, std::size_t argument, int) {
    const c10::TensorImpl& impl = *input.unsafeGetTensorImpl();
    const c10::StorageImpl* storage = storage_of(impl);
    if (storage == nullptr) return;
    if (!ledger_empty && watcher.ledger().knows({reinterpret_cast<std::uint64_t>(storage)})) {
      look.suspect = true;
      return;
    }
    // What no watched op wrote came from outside. A few rows taken from a large data set are
    // looked at in the result: the cost of a look is never above that of the op.
    if (!hides || !wrapper.arguments[argument].read || watcher.storages().is_made(storage)) return;
    if (wrapper.partial_write && wrapper.arguments[argument].written) return;
    if (sight_of(impl) != Sight::kWatched) return;
    if (impl.numel() > 4 * results && wrapper.shape != ResultShape::kNone) {
      look.scan_results = true;
    } else {
      look.suspect |= is_bad(impl, look);
    }
  });
}

}  // namespace

void call_begins(Call& call) {
  Wrapper& wrapper = wrapper_of(call);
  ThreadWatch& thread = this_thread();
  call.inner = thread.is_busy() || works_for_collectives(thread);
  call.closed = call.inner || !wrapper.transparent;
  if (call.inner) return;
  const Timed timed(Part::kBegin);
  const OwnTime::Sampled sampled(thread.own_time());
  try {
    if (__builtin_expect(Watcher::get().new_ops().any(), 0)) {
      const Busy busy;
      sweep(Watcher::get().new_ops(), Watcher::get().other_devices());
    }
    if (__builtin_expect(wrapper.collective, 0)) collective_begins(wrapper, call);
    if (__builtin_expect(wrapper.other_device, 0)) {
      HostCopies::forget();
      if (!Watcher::get().readable_devices().any()) return;
      if (KeptBefore before = begin_to_put_off(wrapper, call)) {
        call.before = before.release();
        return;
      }
      // An allocation is looked at by nobody.
      if (wrapper.rule != ScanRule::kAllocates || wrapper.writes) Watcher::get().window().settle();
    }
    if (!wrapper.writes) return;
    call.before = look_before(wrapper, call).release();
  } catch (const std::exception& error) {
    Watcher::get().disarming().disarm(wrapper.info.name, error.what());
  }
}

namespace {

// A library may keep what it was given and what it gave, and write it at any time.
void given_to_others(const Wrapper& wrapper, const Call& call, void* result) {
  if (has(wrapper.flags, OpFlags::kWritesItself)) return;  // torch keeps nothing
  WrittenStorages& storages = Watcher::get().storages();
  each_tensor(wrapper, call, [&](const at::Tensor& argument, std::size_t, int) {
    if (wrapper.collective) {
      storages.others_may_write(argument);  // until it has ended
    } else if (argument.has_storage()) {
      storages.lend(argument.storage());
    }
  });
  if (wrapper.collective) return;
  each_output(wrapper, call, result, [&](const at::Tensor& output, int) {
    if (output.has_storage()) storages.lend(output.storage());
  });
}

// Something in this call lies where nobody can look.
bool is_out_of_sight(const Wrapper& wrapper, const Call& call, void* result) {
  bool unseen = false;
  const auto look = [&](const at::Tensor& tensor) {
    unseen |= sight_of(*tensor.unsafeGetTensorImpl()) == Sight::kOtherDevice;
  };
  each_tensor(wrapper, call, [&](const at::Tensor& input, std::size_t, int) { look(input); });
  each_output(wrapper, call, result, [&](const at::Tensor& output, int) { look(output); });
  return unseen;
}

// Note [Other devices are counted]
void count_results(const Wrapper& wrapper, const Call& call, void* result) {
  remember_new_nodes();
  if (wrapper.rule == ScanRule::kAllocates) return;
  bool computed = false;
  const auto look = [&](const at::Tensor& tensor) {
    const Sight sight = sight_of(*tensor.unsafeGetTensorImpl());
    computed |= sight == Sight::kOtherDevice || sight == Sight::kWatched;
    if (sight == Sight::kWatched) Watcher::get().storages().came_from_other_device(tensor);
  };
  each_output(wrapper, call, result, [&](const at::Tensor& output, int) { look(output); });
  each_hidden_write(wrapper, call, look);
  if (wrapper.rule == ScanRule::kReadsHost) {
    each_tensor(wrapper, call, [&](const at::Tensor& input, std::size_t, int) {
      computed |= sight_of(*input.unsafeGetTensorImpl()) == Sight::kOtherDevice;
    });
  }
  if (computed) this_thread().count_unseen(static_cast<std::size_t>(Sight::kOtherDevice));
}

// On a thread of the backend, which fills the program's memory from its own: with what was
// received.
void carry_received(const Call& call, void* result) noexcept {
  const Wrapper& wrapper = wrapper_of(call);
  if (wrapper.collective || wrapper.other_device || this_thread().is_busy()) return;
  try {
    Receipts& receipts = Watcher::get().receipts();
    each_tensor(wrapper, call, [&](const at::Tensor& from, std::size_t, int) {
      each_output(wrapper, call, result, [&](const at::Tensor& to, int) {
        if (!from.has_storage() || !to.has_storage()) return;
        if (receipts.carry(from, to)) Watcher::get().storages().others_may_write(to);
      });
    });
  } catch (const std::exception& error) {
    Watcher::get().disarming().disarm(wrapper.info.name, error.what());
  }
}

// Fills in what there is to see. False where there is nothing to tell, whatever it holds.
bool look_through(const Wrapper& wrapper, const Call& call, void* result, ThreadWatch& thread,
                  Look& look) {
  std::int64_t numel = 0;
  each_output(wrapper, call, result, [&](const at::Tensor& output, int number) {
    const Timed<2> timed(Part::kOutputs);
    const c10::TensorImpl& impl = *output.unsafeGetTensorImpl();
    if (impl.key_set().has(c10::DispatchKey::CPU) || wrapper.other_device) numel += impl.numel();
    if (__builtin_expect(look.again, 0)) {
      look_again_at_output(wrapper, call, output, number, thread, look);
    } else {
      look_at_output(wrapper, call, output, number, thread, look);
    }
  });
  if (wrapper.rule == ScanRule::kAllocates || wrapper.rule == ScanRule::kBorrows) return false;
  each_hidden_write(wrapper, call, [&](const at::Tensor& target) {
    if (__builtin_expect(look.again, 0)) {
      look.bad |= sight_of(*target.unsafeGetTensorImpl()) == Sight::kWatched &&
                  !is_finite(*target.unsafeGetTensorImpl());
    } else {
      look_at_hidden_write(wrapper, call, *target.unsafeGetTensorImpl(), thread, look);
    }
  });
  if (!look.bad && wrapper.rule != ScanRule::kLifts) {
    const Timed<2> timed(Part::kInputs);
    look_at_inputs(wrapper, call, numel, look);
  }
  if (__builtin_expect(look.scan_results && !look.suspect, 0)) {
    each_output(wrapper, call, result, [&](const at::Tensor& output, int) {
      const c10::TensorImpl& impl = *output.unsafeGetTensorImpl();
      look.bad |= sight_of(impl) == Sight::kWatched && is_bad(impl, look);
    });
  }
  if (wrapper.has_scalars && is_left_out(wrapper) && !look.bad)
    look.suspect |= has_nonfinite_number(wrapper, call);
  look.suspect |= wrapper.info.traits.zeroes && Watcher::get().judge().awaits_gradients();
  return true;
}

void tell_if_bad(Wrapper& wrapper, Call& call, void* result, const Before* before, const Look& look,
                 ThreadWatch& thread) {
  if (__builtin_expect(look.bad || look.suspect || (before != nullptr && !before->bad.empty()),
                       0)) {
    const Timed<2> timed(Part::kHit);
    const OwnTime::Whole whole(thread.own_time());
    tell_hit(wrapper, call, result, before,
             look.bad           ? ResultsSeen::kBad
             : look.passed_over ? ResultsSeen::kPassedOver
                                : ResultsSeen::kFinite);
  }
}

void look_at_results(Call& call, void* result, const Before* before) {
  Wrapper& wrapper = wrapper_of(call);
  ThreadWatch& thread = this_thread();
  thread.count_op();
  {
    const Timed<2> timed(Part::kNodes);
    remember_new_nodes();
  }
  if (looks_well(wrapper, call, result, before, thread)) {
    if (__builtin_expect(wrapper.looks_aside, 0)) look_aside(wrapper, call);
    return;
  }

  if (__builtin_expect(wrapper.transparent, 0)) {
    given_to_others(wrapper, call, result);
    if (wrapper.collective) return;
  }
  Look look;
  look.tangled = before != nullptr && before->tangled;
  look.grows_from = before != nullptr ? before->storage_bytes : 0;
  if (!look_through(wrapper, call, result, thread, look)) return;
  tell_if_bad(wrapper, call, result, before, look, thread);
  if (__builtin_expect(wrapper.looks_aside, 0)) {
    const Timed<2> timed(Part::kAside);
    look_aside(wrapper, call);
  }
}

// An op of another device that waits in the window from here on.
void look_later(Call& call, void* result, PutOff& kept) {
  Wrapper& wrapper = wrapper_of(call);
  ThreadWatch& thread = this_thread();
  thread.count_op();
  remember_new_nodes();
  Look look;
  look.later = &kept.looks;
  (void)look_through(wrapper, call, result, thread, look);
  put_off(wrapper, call, result, kept, /*judge_now=*/look.bad || look.suspect);
  if (wrapper.looks_aside) look_aside(wrapper, call);
}

// An op of another device.
void look_at_device(Call& call, void* result, const Before* before) {
  const Wrapper& wrapper = wrapper_of(call);
  Watcher::get().readable_devices().count_call();
  if (is_out_of_sight(wrapper, call, result)) {
    count_results(wrapper, call, result);
  } else {
    if (before != nullptr && before->put_off != nullptr) {
      look_later(call, result, *before->put_off);
    } else {
      look_at_results(call, result, before);
    }
    if (wrapper.untried_device && wrapper.rule != ScanRule::kAllocates)
      this_thread().count_unseen(static_cast<std::size_t>(Sight::kUntriedDevice));
  }
  HostCopies::forget();
}

}  // namespace

void call_returned(Call& call, void* result) {
  if (call.inner) {
    if (works_for_collectives(this_thread())) carry_received(call, result);
    return;
  }
  const Timed timed(Part::kReturn);
  const OwnTime::Sampled sampled(this_thread().own_time());
  const KeptBefore before(static_cast<Before*>(call.before));
  call.before = nullptr;
  try {
    if (__builtin_expect(wrapper_of(call).other_device, 0)) {
      look_at_device(call, result, before.get());
    } else {
      look_at_results(call, result, before.get());
    }
  } catch (const std::exception& error) {
    Watcher::get().disarming().disarm(wrapper_of(call).info.name, error.what());
  }
  // Outside: an exception of the program's own making passes through.
  if (__builtin_expect(this_thread().stop_wanted(), 0)) stop(wrapper_of(call), call, result);
}

void judge_late(Wrapper& wrapper, Call& call, const Before* before) {
  ThreadWatch& thread = this_thread();
  Look look;
  look.again = true;
  if (!look_through(wrapper, call, nullptr, thread, look)) return;
  tell_if_bad(wrapper, call, nullptr, before, look, thread);
}

namespace {

// It was to be put off, and raised: it is judged after what was.
KeptBefore before_raised(const Wrapper& wrapper, const Call& call) noexcept {
  try {
    Watcher::get().window().settle();
    return look_before(wrapper, call);
  } catch (const std::exception& error) {
    Watcher::get().disarming().disarm(wrapper.info.name, error.what());
    return nullptr;
  }
}

}  // namespace

void call_unwound(Call& call) noexcept {
  if (call.inner) return;
  KeptBefore before(static_cast<Before*>(call.before));
  call.before = nullptr;
  if (before != nullptr && before->put_off != nullptr)
    before = before_raised(wrapper_of(call), call);
  tell_raised(wrapper_of(call), call, before.get());
}

}  // namespace nanscope::torch_adapter
