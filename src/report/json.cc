#include "report/json.h"

#include "report/json_document.h"

namespace nanscope {

std::string json_report(const Capture& capture) {
  return json_text(json_document(diagnosed(capture))) + "\n";
}

std::string json_finding(const Finding& finding) { return json_text(json_of(finding), -1); }

}  // namespace nanscope
