// A deflated member of a zip, inflated while it is read.
#pragma once

#include <cstdint>

#include "checkpoint/bytes.h"

namespace nanscope::checkpoint {

// `size` is what the directory says; a stream that holds less is an error when it is read.
[[nodiscard]] BytesPtr inflated(BytesPtr packed, std::uint64_t size);

}  // namespace nanscope::checkpoint
