// Hands a call with something non-finite in or out to the judge, with facts at hand.
#pragma once

#include <cstdint>

#include "adapters/torch/interpose/trampoline.h"
#include "adapters/torch/interpose/wrapper.h"
#include "adapters/torch/watch/before.h"

namespace nanscope::torch_adapter {

// What was seen of the results before it came to this.
enum class ResultsSeen : std::uint8_t {
  kBad,
  kFinite,      // a scan or a proof said so of each
  kPassedOver,  // none is known to be bad: they hold what went in
};
void tell_hit(Wrapper& wrapper, Call& call, void* result, const Before* before, ResultsSeen seen);
void tell_raised(Wrapper& wrapper, Call& call, const Before* before) noexcept;
// The few ops of which a healthy call tells something: the loss scaler, guards in half precision.
void look_aside(const Wrapper& wrapper, const Call& call);
// Throws, if a verdict of this thread wants the program stopped; the result is destroyed first.
void stop(const Wrapper& wrapper, const Call& call, void* result);

}  // namespace nanscope::torch_adapter
