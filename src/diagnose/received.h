// How a collective between ranks is called in sentences.
#pragma once

#include <string>

#include "records/collective.h"

namespace nanscope {

// "all_reduce", as torch.distributed calls it.
[[nodiscard]] std::string collective_name(const Collective& call);
// "all_reduce number 412 of group 0 (DDP bucket 3)", "message 3 from rank 1 to rank 0 (tag 0) of
// group 0".
[[nodiscard]] std::string call_text(const Collective& call);
// "rank 1 gave 4 NaN"; empty if nobody is known to have given anything.
[[nodiscard]] std::string givers_text(const Collective& call);

}  // namespace nanscope
