// The JSON that the page is filled with: docs/finding.schema.json, one report for each capture.

export type Num = number | "nan" | "inf" | "-inf";
export type Value = Num | string; // complex values are text
export type Maybe<T> = T | null | undefined;

export interface Site {
  file: string;
  line: number;
  end_line: number;
  col: number;
  end_col: number;
  code: string;
  function: string;
  source?: string[];
  before?: string[];
  after?: string[];
  remark?: string;
}

export interface Origin {
  kind: string;
  phase: string;
  op: string;
  node: string | null;
  site: Site;
  library_site: Site | null;
  stack: { file: string; line: number; function: string }[];
  module: string | null;
  step: number;
  rank: number | null;
  worker: number | null;
  output: number;
  index: number[] | null;
  value: Value;
  nan: number;
  pos_inf: number;
  neg_inf: number;
  numel: number;
  indices: number[][];
  per_element: boolean;
  in_backward_code: boolean;
}

export interface Statistics {
  min: Maybe<Num>;
  max: Maybe<Num>;
  mean: Maybe<Num>;
  zeros: number;
  negatives: number;
  subnormals: number;
  nan: number;
  pos_inf: number;
  neg_inf: number;
}

export interface Exponents {
  first: number; // the first bin begins at 2^first
  width: number; // powers of two in one bin
  bins: number[];
  looked_at: number;
}

export interface BadMap {
  rows: number;
  columns: number;
  cells: number[];
}

export interface Module {
  path: string;
  type: string;
  activation?: Num;
  activation_dtype?: string;
  weight?: Num;
  gradient?: Num;
  weight_dtype?: string;
}

export interface Tensor extends Statistics {
  name: string;
  dtype: string;
  shape: number[];
  at_index: Value[];
  feeding?: Statistics & { numel: number };
  remark?: string;
  argument?: string;
  saved?: string; // a backward node kept it since the forward, under this name
  parameter?: boolean;
  exponents?: Exponents;
  bad_map?: BadMap;
}

// What an op on the way gave; of a large result the counts may not be known.
export interface Made {
  dtype: string;
  shape: number[];
  nan?: number;
  pos_inf?: number;
  neg_inf?: number;
  largest?: Maybe<Num>;
}

export interface Link {
  op: string;
  site: Site;
  phase: string;
  role: string;
  made?: Made;
  parent?: Maybe<number>; // of what was cleaned: the number of the link in the chain that it comes from
}

export interface Harm {
  kind: string;
  site: Site | null;
  step: number;
  name: string | null;
  text: string;
  sentence: string;
}

// How it went on on a rank that received it.
export interface RankWay {
  rank: number | null;
  call: string;
  collective: { name: string; message: object | null; sequence: number };
  chain: Link[];
  chain_truncated: boolean;
  harm: Harm | null;
}

// What one of many ranks has to do with it.
export interface RankLine {
  rank: number | null;
  host: string;
  pid: number;
  capture: string | null;
  sentence: string;
}

export interface Cause {
  id: string;
  title?: string;
  certainty: string;
  to_blame: string;
  sentence: string;
  evidence: string[];
  evidence_of_experiments?: string[]; // those lines that `experiments` tell as well
  experiments?: { what: string; result: string }[];
  others: { id: string; why_not: string; shows?: boolean }[];
}

export interface Step {
  step: number;
  loss: Maybe<Num>;
  gradient_norm: Maybe<Num>;
  largest_parameter: Maybe<Num>;
  update_ratio: Maybe<Num>;
  learning_rate: Maybe<Num>;
  loss_scale: Maybe<Num>;
}

export interface Fix {
  id: string;
  diff: string;
  files: string[];
  explanation: string;
  changes_training: boolean;
  workaround?: boolean;
  applied?: boolean;
}

export interface Verification {
  status: string;
  steps: number;
  healthy_steps_unchanged: boolean | null;
  detail: string;
  checks?: string[];
  first_loss?: number;
  losses_before?: Maybe<Num>[];
  losses_after?: Maybe<Num>[];
}

export interface Finding {
  level: "error" | "warning" | "note";
  headline: string;
  deed: string; // the headline without the place
  origin: Origin;
  harm: Harm | null;
  chain: Link[];
  chain_truncated: boolean;
  inputs: Tensor[];
  outputs: Tensor[];
  inputs_left_out?: number;
  cause: Cause;
  fix: Fix | null;
  verification: Verification;
  scalars: { name: string; value: string }[];
  count: number;
  recomputed: { dtype: string; values: Value[] }[];
  history: Step[];
  magnitudes: { name: string; largest: Num; gradient: boolean }[];
  fate: string | null;
  cleaned?: Link[];
  cleaned_more?: number;
  received_by?: RankWay[];
  received_by_more?: number;
  modules?: Module[];
  modules_left_out?: number;
  undone?: string;
  allowed?: string;
  shortened?: boolean;
  forewarning?: { name: string; dtype: string; value: Maybe<Num>; limit: Maybe<Num>; steps: number };
  tried?: { id: string; status: string; detail: string }[];
}

export interface Intended {
  op: string;
  site: Site;
  value: Value;
  count: number;
  fate: string;
}

export interface Report {
  verdict: "error" | "clean" | "unknown";
  summary: string;
  summary_title: string;
  summary_detail: string;
  complete: boolean;
  capture: string;
  program: {
    argv: string[];
    python: string;
    torch: string;
    mode: string;
    pid: number;
    host: string;
    exit_status: number | null;
    ended: string | null;
    devices?: string[];
    seconds?: Maybe<number>;
    own_seconds?: Maybe<number>;
    rank?: number;
    world_size?: number;
  };
  ranks?: RankLine[];
  findings: Finding[];
  findings_left_out: number;
  shortened?: boolean; // what is told of the run itself
  coverage: {
    ops_watched: number;
    bytes_scanned: number;
    steps: number;
    not_watched: { what: string; why: string; count: number }[];
    allowed?: { what: string; why: string; count: number }[];
    intended?: Intended[];
    intended_more?: number;
  };
}

export interface Data {
  nanscope: string; // its version
  redacted: string[];
  reports: Report[];
  captures_left_out: number;
}

export function readData(): Data {
  const element = document.getElementById("data");
  return JSON.parse(element?.textContent ?? "") as Data;
}
