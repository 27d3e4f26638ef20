// CBOR payloads back to records; the other half of encode.h.
//
// Decoding believes nothing: sizes, nesting, types and ranges are checked before use.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "records/capture.h"

namespace nanscope {

// Absent keys keep their defaults, unknown ones are ignored. The error names the
// field, for the reader to wrap: "origin.op is not text".
[[nodiscard]] Result<Program> decode_program(std::string_view payload);
[[nodiscard]] Result<Finding> decode_finding(std::string_view payload);
[[nodiscard]] Result<Coverage> decode_coverage(std::string_view payload);
[[nodiscard]] Result<Fix> decode_fix(std::string_view payload);
[[nodiscard]] Result<Repair> decode_repair(std::string_view payload);
[[nodiscard]] Result<Withdrawal> decode_withdrawal(std::string_view payload);

// A payload as one line of strict JSON, whatever record it is.
[[nodiscard]] Result<std::string> readable(std::string_view payload);

}  // namespace nanscope
