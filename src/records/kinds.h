// The closed lists of the verdict model, one enum each, from the judge to the JSON. Their words are
// in words.h.
#pragma once

#include <cstdint>

namespace nanscope {

enum class Level : std::uint8_t { kError, kWarning, kNote };
enum class OriginKind : std::uint8_t {
  kBirth,
  kDeclared,
  kImported,
  kUninitialised,
  kUnwatched,
  kReceived
};
enum class Phase : std::uint8_t { kData, kForward, kBackward, kOptimizer };
enum class HarmKind : std::uint8_t {
  kGradient,
  kParameter,
  kBuffer,
  kOptimizerState,
  kException,
  kGuard,
  kLoss,
  kCollapsed,
  kKept,
  kHost
};
enum class Role : std::uint8_t {
  kBirth,
  kDeclared,
  kImported,
  kCarrier,
  kCleaned,
  kHarm,
  kReceived
};
enum class Ended : std::uint8_t { kNormally, kException, kSignal, kStopped };
// What went unwatched: anything; or the findings outside of what `--layer` or `--file` chose.
enum class GapKind : std::uint8_t { kUnwatched, kNotChosen };
// An operand was replaced; or the operands were made again in float64 from their own inputs.
enum class ExperimentKind : std::uint8_t { kMended, kMadeAgain };
// How a value was lost on the way to the op that failed.
enum class Loss : std::uint8_t { kNothing, kCancellation, kUnderflow, kGuard, kRounding, kMasked };

}  // namespace nanscope
