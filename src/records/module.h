// One module of the model at the moment of a finding: how large its numbers are.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace nanscope {

// The largest |value| of each kind; NaN or Inf where there is one, null where nothing was seen.
struct ModuleFacts {
  std::string path;                  // net.encoder.layers.3
  std::string type;                  // its class: Linear
  std::optional<double> activation;  // of what its ops kept for the backward in this step
  std::string activation_dtype;
  std::optional<double> weight;    // of the parameters it owns itself
  std::optional<double> gradient;  // of these parameters
  std::string weight_dtype;

  static constexpr std::size_t kMost = 4096;  // of one finding
};

}  // namespace nanscope
