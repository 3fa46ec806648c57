import { isIP } from "node:net";
import { v6Groups } from "./ip-address.ts";

const PRIVATE_V4: readonly (readonly [base: number, bits: number])[] = [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/4",
  "240.0.0.0/4",
  "168.63.129.16/32",
].map((range) => {
  const [base = "", bits = "32"] = range.split("/");
  return [v4Number(base), Number(bits)] as const;
});

/** Whether an IP address is not on the public internet: loopback, private, link-local, metadata, multicast or reserved. */
export function isPrivateAddress(address: string): boolean {
  return isIP(address) === 6 ? isPrivateV6(address) : isPrivateV4(v4Number(address));
}

function v4Number(text: string): number {
  return text.split(".").reduce((sum, part) => sum * 256 + Number(part), 0);
}

function isPrivateV4(address: number): boolean {
  return PRIVATE_V4.some(([base, bits]) => Math.floor(address / 2 ** (32 - bits)) === Math.floor(base / 2 ** (32 - bits)));
}

/** Only global unicast is public; addresses in it that embed an IPv4 address are judged by that one. */
function isPrivateV6(text: string): boolean {
  const groups = v6Groups(text);
  const [g0 = 0, g1 = 0, g2 = 0] = groups;
  const v4At = (index: number) => isPrivateV4((groups[index] ?? 0) * 65_536 + (groups[index + 1] ?? 0));
  if (g0 === 0x64 && g1 === 0xff9b && groups.slice(2, 6).every((group) => group === 0)) return v4At(6);
  if (groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff) return v4At(6);
  if (g0 === 0x2002) return v4At(1);
  if (g0 < 0x2000 || g0 > 0x3fff) return true;
  return (
    (g0 === 0x2001 && (g1 === 0 || g1 === 0xdb8 || (g1 === 2 && g2 === 0) || (g1 >= 0x10 && g1 <= 0x2f))) || (g0 === 0x3fff && g1 < 0x1000)
  );
}
