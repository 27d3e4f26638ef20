// The closed lists of the verdict model, one enum each, from the judge to the JSON. Their words are
// in words.h.
#pragma once

#include <cstdint>

namespace nanscope {

enum class Level : std::uint8_t { kError, kWarning, kNote };
enum class OriginKind : std::uint8_t { kBirth, kDeclared, kImported, kUninitialised, kUnwatched };
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
enum class Role : std::uint8_t { kBirth, kDeclared, kImported, kCarrier, kCleaned, kHarm };
enum class Ended : std::uint8_t { kNormally, kException, kSignal, kStopped };

}  // namespace nanscope
