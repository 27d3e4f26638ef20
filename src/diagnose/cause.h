// Why it happened: what a report says of a finding's cause.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nanscope {

enum class Certainty : std::uint8_t { kCertain, kLikely };

[[nodiscard]] constexpr std::string_view word_of(Certainty certainty) noexcept {
  return certainty == Certainty::kCertain ? "certain" : "likely";
}

struct Cause {
  struct Other {
    std::string id;
    std::string why_not;
    bool shows = false;  // it is true, and only how the cause showed
  };

  // What was tried at the hit.
  struct Experiment {
    std::string what;    // `n` 0.5 instead of 0
    std::string result;  // finite: 2
    // The failing element, had its operand not been lost to rounding or underflow.
    std::optional<double> exactly = std::nullopt;
  };

  std::string id;     // of the catalogue: log_of_zero
  std::string title;  // what happened, in a few words: Logarithm of zero in `torch.log(p)`
  Certainty certainty = Certainty::kLikely;
  std::string to_blame;                              // the code, the data, a hyper-parameter
  std::string sentence;                              // in the user's own variable names
  std::vector<std::string> evidence;                 // numbers, not adjectives
  std::vector<std::string> evidence_of_experiments;  // those lines that `experiments` tell as well
  std::vector<Other> others;                         // suspects, and why they are not it
  std::vector<Experiment> experiments;
};

}  // namespace nanscope
