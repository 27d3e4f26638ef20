// What happens when a call is worth telling: the judge is told, with facts at hand.
#pragma once

#include "before.h"
#include "hook.h"
#include "trampoline.h"

namespace nanscope::torch_adapter {

// May throw to stop the program; the result is destroyed first.
void tell_hit(Hook& hook, Call& call, void* result, const Before* before);
void tell_raised(Hook& hook, Call& call, const Before* before) noexcept;
void tell_scaler(const Hook& hook, const Call& call);

}  // namespace nanscope::torch_adapter
