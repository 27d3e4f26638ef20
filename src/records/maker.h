// The ops behind the one that failed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "records/site.h"
#include "records/tensor_facts.h"

namespace nanscope {

// An op that made an input of the one that failed, known by the autograd node it left behind.
struct Maker {
  std::string node;  // SoftmaxBackward0
  Site site;
  std::vector<TensorFacts> tensors;  // what the node kept: operands, or its result
  std::vector<ScalarFact> scalars;   // exponent, dim, min
  // Its place on the way back: 0 made an input itself, 1 made an input of that one, ...
  std::int64_t links_back = 0;
  std::string makes;  // the argument of the op (or of the maker behind it) that it made: self
};

}  // namespace nanscope
