// Records to CBOR payloads; decode.h reads them back.
//
// Keys and words are those of the JSON finding, so a payload explains itself to
// any CBOR reader. Encoding bounds what a record can grow to.
#pragma once

#include <string>

#include "records/capture.h"

namespace nanscope {

// Never larger than kMostRecordBytes: long texts and lists are cut, and say so.
[[nodiscard]] std::string encode(const Program& program);  // secrets in argv are masked
[[nodiscard]] std::string encode(const Finding& finding);
[[nodiscard]] std::string encode(const Coverage& coverage);
[[nodiscard]] std::string encode(const Fix& fix);
[[nodiscard]] std::string encode(const Repair& repair);
[[nodiscard]] std::string encode(const Withdrawal& withdrawal);

}  // namespace nanscope
