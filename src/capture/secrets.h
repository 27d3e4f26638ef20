// Arguments that look like secrets never reach a capture or a report.
#pragma once

#include <string>
#include <vector>

namespace nanscope {

// `--api-key=abc`, `--password abc`, `HF_TOKEN=abc`, `https://me:abc@host` and values
// with a known prefix (hf_, sk-, ghp_) keep their shape and lose the secret: `***`.
// Masking twice changes nothing.
[[nodiscard]] std::vector<std::string> mask_secrets(std::vector<std::string> argv);

}  // namespace nanscope
