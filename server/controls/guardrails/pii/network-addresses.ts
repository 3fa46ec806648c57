import { isIP } from "node:net";
import { isOneOf, isWordAt, lastWordFrom } from "../text/characters.ts";
import type { DetectedSpan, Detector } from "../text/detector.ts";
import { scanNumbers } from "../text/digit-runs.ts";
import { scan } from "../text/scan.ts";
import { openNumberFrom } from "./open-number.ts";

const V4 = /(?:\d{1,3}\.){3}\d{1,3}(?![\p{L}\p{N}_]|[.-]\d)/uy;
const VERSION = /(?:\bv|version|release|build)[ :=.]*$/i;
/** Network masks, the own machine and no machine. */
const NOBODYS = /^(?:0|127|255)\./;

function v4At(text: string, start: number): DetectedSpan | null {
  if (isWordAt(text, start - 1) || isOneOf(text, start - 1, ".-")) return null;
  V4.lastIndex = start;
  const written = V4.exec(text)?.[0];
  if (written === undefined || NOBODYS.test(written)) return null;
  if (written.split(".").some((part) => Number(part) > 255 || (part.length > 1 && part.startsWith("0")))) return null;
  if (VERSION.test(text.slice(Math.max(0, start - 12), start))) return null;
  return { category: "ip_address", start, end: start + written.length, score: 0.6 };
}

const V6 = /(?<![0-9A-Za-z:.])(?=[0-9A-Fa-f:]{0,38}:)[0-9A-Fa-f:][0-9A-Fa-f:.]{1,43}(?<=[0-9A-Fa-f:])(?![0-9A-Za-z])/g;
/** Prefixes in use, in which two colons are no operator of a program. */
const KNOWN_PREFIX = /^(?:fe80|f[cd][0-9a-f]{2}|2[0-9a-f]{3}):/i;

function v6At(text: string, start: number): DetectedSpan | null {
  const own = new RegExp(V6.source, "y");
  own.lastIndex = start;
  const written = own.exec(text)?.[0] ?? "";
  if (isIP(written) !== 6 || !/\d/.test(written) || written === "::1") return null;
  if (written.split(":").length < 4 && !KNOWN_PREFIX.test(written)) return null;
  return { category: "ip_address", start, end: start + written.length, score: 0.8 };
}

/** Addresses of machines on the internet, which stand for the people who use them. */
export const networkAddress: Detector = {
  check: "pii",
  maxLength: 46,
  find(text, from, to) {
    const v4 = text.includes(".") ? scanNumbers(text, from, to, 0, (start) => v4At(text, start)) : [];
    const v6 = text.includes(":") ? scan(text, new RegExp(V6.source, "g"), from, to, (start) => v6At(text, start)) : [];
    if (v6.length === 0) return v4;
    const sixes = v6.filter(({ start, end }) => !v4.some((other) => other.start < start && other.end > start && other.end <= end));
    const fours = v4.filter(({ start, end }) => !sixes.some((other) => other.start < end && other.end > start));
    return [...fours, ...sixes].toSorted((a, b) => a.start - b.start);
  },
  openFrom: (text) => Math.min(openNumberFrom(text), lastWordFrom(text, Math.max(0, text.length - 60))),
};

const MAC = /(?<![0-9A-Za-z:-])[0-9A-Fa-f]{2}([:-])(?:[0-9A-Fa-f]{2}\1){4}[0-9A-Fa-f]{2}(?![0-9A-Za-z]|[:-][0-9A-Fa-f]{2})/g;

/** Hardware addresses, except the broadcast address and none. */
export const macAddress: Detector = {
  check: "pii",
  maxLength: 17,
  find: (text, from, to) =>
    scan(text, new RegExp(MAC.source, "g"), from, to, (start) => {
      const written = text.slice(start, start + 17);
      return /^(?:00|ff)(?:.(?:00|ff)){5}$/i.test(written) ? null : { category: "mac_address", start, end: start + 17, score: 0.85 };
    }),
  openFrom: (text) => lastWordFrom(text, Math.max(0, text.length - 24)),
};
