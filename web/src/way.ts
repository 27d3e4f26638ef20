// The way a value went, as stops: birth, carriers, harm; one track for each rank that it was on.
import { position } from "./format";
import type { Finding, Harm, Link, Made, Maybe, Origin, RankWay } from "./data";

export interface Stop {
  role: string;
  phase: string;
  op: string;
  what: string; // of a harm, its sentence
  where: string;
  code: string;
  made?: Made;
  parent?: Maybe<number>;
}

export interface Track {
  rank: string; // empty where there is but one
  call: string; // that brought it; empty where it was made
  short: string; // the call in a word or two
  stops: Stop[];
  truncated: boolean;
}

const ROLE_OF_KIND: Record<string, string> = { declared: "declared", imported: "imported", received: "received" };

export function stopOf(link: Link, harm: Harm | null): Stop {
  const harmful = link.role === "harm" && harm;
  const site = harmful && harm.site ? harm.site : link.site;
  return {
    role: link.role,
    phase: link.phase,
    op: harmful ? "harm" : link.op,
    what: harmful ? harm.sentence : link.op,
    where: site.file ? position(site) : "",
    code: harmful ? "" : site.code,
    made: link.made,
    parent: link.parent,
  };
}

function harmStop(harm: Harm): Stop {
  return { role: "harm", phase: "optimizer", op: "harm", what: harm.sentence, where: harm.site?.file ? position(harm.site) : "", code: "" };
}

function originStop(origin: Origin): Stop {
  return { role: ROLE_OF_KIND[origin.kind] ?? "birth", phase: origin.phase, op: origin.op, what: origin.op, where: position(origin.site), code: origin.site.code };
}

function stopsOf(chain: Link[], harm: Harm | null): Stop[] {
  const stops = chain.map((link) => stopOf(link, harm));
  if (harm && !stops.some((stop) => stop.role === "harm")) stops.push(harmStop(harm));
  return stops;
}

const rankName = (rank: number | null): string => (rank === null ? "a rank" : `rank ${rank}`);

const shortCall = ({ collective: { name, message, sequence } }: RankWay): string => (message ? "message" : `${name} ${sequence.toLocaleString("en-US")}`);

export function tracksOf(finding: Finding): Track[] {
  const { origin, chain } = finding;
  const others = finding.received_by ?? [];
  // Where the rank that made it took no harm itself, the finding has that of another.
  const borrowed = !chain.some((link) => link.role === "harm") && others.some((way) => JSON.stringify(way.harm) === JSON.stringify(finding.harm));
  const own = stopsOf(chain, borrowed ? null : finding.harm);
  if (chain.length === 0) own.unshift(originStop(origin));
  return [
    { rank: others.length > 0 ? rankName(origin.rank) : "", call: "", short: "", stops: own, truncated: finding.chain_truncated },
    ...others.map((way) => ({ rank: rankName(way.rank), call: way.call, short: shortCall(way), stops: stopsOf(way.chain, way.harm), truncated: way.chain_truncated })),
  ];
}
