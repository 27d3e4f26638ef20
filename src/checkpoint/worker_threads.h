// Several threads at one piece of work.
#pragma once

#include <functional>

namespace nanscope::checkpoint {

// As many as there are processors, at most 32.
[[nodiscard]] unsigned usual_threads();

// Calls `work` in each of so many threads, or in the calling one if there are no more to be had,
// and returns when all have. If there is something to `look` at, the calling thread does so
// meanwhile, about ten times a second.
void run_in_threads(unsigned threads, const std::function<void()>& work,
                    const std::function<void()>& look = {});

}  // namespace nanscope::checkpoint
