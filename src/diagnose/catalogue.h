// Why did it happen? One finding in, one cause out.
//
// A pure function of the finding: what it needs was computed at the hit. It says
// `certain` only where an experiment is a proof (proof.h), and it never guesses:
// where no rule holds, the cause is `unknown`, with what was looked at.
#pragma once

#include "diagnose/cause.h"
#include "records/finding.h"

namespace nanscope {

[[nodiscard]] Cause diagnose(const Finding& finding);

}  // namespace nanscope
