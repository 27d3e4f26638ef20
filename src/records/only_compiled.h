// What is known where only the compiled form of a region gives a bad value.
#pragma once

#include <string>
#include <vector>

#include "records/site.h"

namespace nanscope {

// Run eagerly on the same inputs, the region gives no such value; run compiled a second time, it
// does.
struct OnlyCompiled {
  std::string kernel;       // the first fused one that wrote such a value; empty: not known
  std::vector<Site> lines;  // of the program, whose result the kernel stores; else the region's
  // float16 or bfloat16: computed with float32 where eager rounds to it, the region gives the value
  // eagerly as well. Empty: nothing of the kind was seen.
  std::string rounded_to;
  // Of torch._inductor.config: compiled again with it, the region gives no such value on the same
  // inputs. Empty: none was found.
  std::string setting;        // emulate_precision_casts
  std::string setting_value;  // True
};

}  // namespace nanscope
