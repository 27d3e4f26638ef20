// The outcome of something that can fail: a value, or one code and one sentence.
//
// The core throws nothing and prints nothing. An error's text is written for the
// user: what happened, to which thing, and what to do next.
#pragma once

#include <string>
#include <utility>
#include <variant>

namespace nanscope {

enum class ErrorCode {
  kBadUsage,  // the command line or an argument makes no sense
  kNotFound,  // a file or a name does not exist
  kExists,    // would overwrite something
  kIo,        // the system refused: full disk, permissions, a vanished folder
  kForeign,   // not a file of ours
  kNewer,     // a file of a newer nanscope
  kDamaged,   // ours, but the bytes are not what was written
  kInternal,  // a fault of nanscope's own
};

struct Error {
  ErrorCode code;
  std::string message;
};

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : outcome_(std::move(value)) {}      // NOLINT(google-explicit-constructor)
  Result(Error error) : outcome_(std::move(error)) {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] bool ok() const { return outcome_.index() == 0; }
  explicit operator bool() const { return ok(); }
  [[nodiscard]] T& value() { return std::get<0>(outcome_); }
  [[nodiscard]] const T& value() const { return std::get<0>(outcome_); }
  [[nodiscard]] const Error& error() const { return std::get<1>(outcome_); }

 private:
  std::variant<T, Error> outcome_;
};

struct Done {};
using Status = Result<Done>;

}  // namespace nanscope
