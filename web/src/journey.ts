// How it travelled: birth, carriers, harm, on every rank it was on; a graph, and the same as lists.
import { h, joints, prose, section } from "./dom";
import { sizes } from "./made";
import { stopOf, tracksOf, type Stop, type Track } from "./way";
import { wayMap } from "./waymap";
import type { Finding } from "./data";

// Where all are in one file, its name says enough.
function shortener(stops: Stop[]): (where: string) => string {
  const folders = new Set(stops.filter((stop) => stop.where).map((stop) => stop.where.replace(/[^/]*$/, "")));
  return folders.size === 1 ? (where) => where.replace(/^.*\//, "") : (where) => where;
}

const listed = (stop: Stop, shorten: (where: string) => string, from = ""): HTMLLIElement =>
  h(
    "li",
    { class: stop.role },
    h("span", { class: `role ${stop.role}` }, stop.role),
    h(
      "span",
      { class: "what" },
      ...(stop.role === "harm" ? prose(stop.what) : [h("code", {}, stop.what || stop.role)]),
      stop.code ? h("span", { class: "code" }, stop.code) : "",
      stop.made ? h("span", { class: "sizes" }, sizes(stop.made)) : "",
      from && h("span", { class: "from" }, "from ", h("code", {}, from)),
    ),
    h("span", { class: "where", title: stop.where }, ...joints([shorten(stop.where), stop.phase !== "forward" && stop.role !== "harm" ? stop.phase : ""].filter(Boolean).join(" · "))),
  );

function listOf(track: Track, items: HTMLElement[]): HTMLElement {
  const list = h("ol", { class: "journey" }, ...items);
  const cut = track.truncated && h("p", { class: "quiet" }, "A part of the way was not kept.");
  if (!track.rank) return h("div", {}, list, cut);
  const title = track.call ? `On ${track.rank}, which received it in ${track.call}` : `On ${track.rank}, which made it`;
  return h("div", { class: "track" }, h("h3", {}, title), list, cut);
}

const MOST_COUNTED = 56; // of the places beyond those listed

function moreCleaned(finding: Finding): HTMLElement | false {
  const more = finding.cleaned_more ?? 0;
  return more > 0 && h("p", { class: "quiet" }, `${more < MOST_COUNTED ? "" : "At least "}${more} more ${more === 1 ? "place" : "places"} where a part of it became finite again.`);
}

export function journey(finding: Finding): HTMLElement {
  const tracks = tracksOf(finding);
  const cleaned = (finding.cleaned ?? []).map((link) => stopOf(link, finding.harm));
  const shorten = shortener([...tracks.flatMap((track) => track.stops), ...cleaned]);
  const items = tracks.map((track) => track.stops.map((stop) => listed(stop, shorten)));
  const cleanedItems = cleaned.map((stop) => listed(stop, shorten, finding.chain[stop.parent ?? -1]?.op));
  const more = finding.received_by_more ?? 0;
  return section(
    "journey",
    "The way it went",
    wayMap(tracks, items, cleaned, cleanedItems),
    ...tracks.map((track, i) => listOf(track, items[i]!)),
    more > 0 && h("p", { class: "quiet" }, `${more} more ranks received it.`),
    cleaned.length > 0 && h("div", {}, h("h3", { class: "branches-title" }, "Branches that became finite again"), h("ul", { class: "branches" }, ...cleanedItems), moreCleaned(finding)),
  );
}
