import { isIP } from "node:net";

/** The eight groups of an IPv6 address. */
export function v6Groups(text: string): number[] {
  // The zone after `%` has a meaning only on its own machine.
  const bare = text.split("%")[0] ?? "";
  const hex = bare.replace(/[\d.]+\.[\d.]+$/, (dotted) => {
    const [a = 0, b = 0, c = 0, d = 0] = dotted.split(".").map(Number);
    return `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
  });
  const [before = [], after] = hex
    .split("::")
    .map((part) => (part === "" ? [] : part.split(":").map((group) => Number.parseInt(group, 16))));
  if (after === undefined) return before;
  return [...before, ...Array.from({ length: 8 - before.length - after.length }, () => 0), ...after];
}

/** The canonical text of an IP address, so that equal addresses are equal texts; null if it is none. */
export function ipAddress(text: string): string | null {
  const kind = isIP(text);
  if (kind !== 6) return kind === 4 ? text : null;
  const groups = v6Groups(text);
  const [high = 0, low = 0] = groups.slice(6);
  if (groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff)
    return [high >> 8, high & 255, low >> 8, low & 255].join(".");
  const written = groups.map((group) => group.toString(16)).join(":");
  // RFC 5952: the first of the longest runs of two or more zeros is left out.
  const [longest] = [...written.matchAll(/\b0(?::0)+\b/g)].sort((one, other) => other[0].length - one[0].length || one.index - other.index);
  if (longest === undefined) return written;
  const after = written.slice(longest.index + longest[0].length);
  return `${written.slice(0, longest.index).replace(/:$/, "")}::${after.replace(/^:/, "")}`;
}

/** The network by which throttles count an address: the /64 of an IPv6 address, which usually has one holder; an IPv4 address itself. */
export function networkOf(address: string): string {
  if (isIP(address) !== 6) return address;
  return v6Groups(address)
    .slice(0, 4)
    .map((group) => group.toString(16))
    .join(":");
}
