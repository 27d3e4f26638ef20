// Many captures of one run, told as one: which rank was first.
//
// Never by clocks. A finding that was received leads to the ranks that gave it: by what they told
// this rank before they gave it (Finding::elsewhere), or, where nothing is known of that, by the
// same call in another capture (Finding::given). Where the walk ends is an origin. The origins are
// the findings of the merged capture, those of the earliest step first, then the lowest rank; every
// capture is one line of it.
#pragma once

#include <string>
#include <vector>

#include "records/capture.h"

namespace nanscope {

struct CaptureOfRank {
  Capture capture;
  std::string path;
};

// What else is known of a rank, as the end of its sentence.
struct RankRemark {
  int rank = 0;
  std::string text;
};

// `also`: ranks of which there is no capture. At least one capture.
[[nodiscard]] Capture merge(std::vector<CaptureOfRank> captures, std::vector<RankLine> also = {},
                            const std::vector<RankRemark>& remarks = {});

}  // namespace nanscope
