import { expect, test } from "bun:test";
import fc from "fast-check";
import { readConfiguration } from "../configuration/configuration.ts";
import { ConfigurationError } from "../configuration/read-variable.ts";
import { ipAddress, networkOf } from "./ip-address.ts";
import { callerAddress } from "./caller-address.ts";

const trusting = (setting: string) => readConfiguration({ GW_TRUSTED_PROXIES: setting }).trustedProxies;
const PROXIES = "10.0.0.0/8, 192.0.2.1, 2001:db8:aaaa::/48, ::1";

/** Each: the peer, the lines of X-Forwarded-For, and the resulting caller. */
const TABLE: readonly (readonly [peer: string, lines: readonly string[], caller: string])[] = [
  ["10.1.2.3", ["203.0.113.7"], "203.0.113.7"],
  ["10.1.2.3", [], "10.1.2.3"],
  ["10.1.2.3", [""], "10.1.2.3"],
  ["203.0.113.9", ["198.51.100.1"], "203.0.113.9"],
  ["11.0.0.1", ["198.51.100.1"], "11.0.0.1"],
  ["10.1.2.3", ["198.51.100.1, 203.0.113.7"], "203.0.113.7"],
  ["10.1.2.3", ["198.51.100.1, 203.0.113.7, 10.9.9.9, 192.0.2.1"], "203.0.113.7"],
  ["10.1.2.3", ["198.51.100.1", "203.0.113.7", "10.9.9.9"], "203.0.113.7"],
  ["10.1.2.3", ["203.0.113.7", "198.51.100.1"], "198.51.100.1"],
  ["10.1.2.3", ["10.7.7.7, 10.8.8.8"], "10.7.7.7"],
  ["10.1.2.3", [" 203.0.113.7 ,, "], "203.0.113.7"],
  ["10.1.2.3", ["203.0.113.7:51234"], "203.0.113.7"],
  ["10.1.2.3", ["[2001:DB8::7]:51234"], "2001:db8::7"],
  ["10.1.2.3", ["[2001:db8:0:0:0::7]"], "2001:db8::7"],
  ["10.1.2.3", ["2001:db8::7"], "2001:db8::7"],
  ["10.1.2.3", ["203.0.113.7, 2001:db8:aaaa::2"], "203.0.113.7"],
  ["10.1.2.3", ["203.0.113.7, 2001:db8:aaab::2"], "2001:db8:aaab::2"],
  ["10.1.2.3", ["198.51.100.1, unknown"], "10.1.2.3"],
  ["10.1.2.3", ["198.51.100.1, unknown, 10.5.5.5"], "10.5.5.5"],
  ["10.1.2.3", ["203.0.113.7, _hidden, 300.1.1.1"], "10.1.2.3"],
  ["10.1.2.3", ["198.51.100.1, 203.0.113.7:port"], "10.1.2.3"],
  ["10.1.2.3", ["::ffff:203.0.113.7"], "203.0.113.7"],
  ["::ffff:10.1.2.3", ["203.0.113.7"], "203.0.113.7"],
  ["::ffff:203.0.113.9", ["198.51.100.1"], "203.0.113.9"],
  ["0:0:0:0:0:0:0:1", ["203.0.113.7"], "203.0.113.7"],
  ["2001:db8:aaaa:1::9", ["203.0.113.7"], "203.0.113.7"],
  ["2001:DB8::9", ["203.0.113.7"], "2001:db8::9"],
  ["fe80::1%eth0", ["203.0.113.7"], "fe80::1"],
  ["", ["203.0.113.7"], ""],
];

test.each(TABLE)("the caller of peer %s with X-Forwarded-For %j is %s", (peer, lines, caller) => {
  const headers = new Headers();
  for (const line of lines) headers.append("x-forwarded-for", line);
  expect(callerAddress(peer, headers, trusting(PROXIES))).toBe(caller);
});

test("without GW_TRUSTED_PROXIES, forwarded headers are ignored", () => {
  const headers = new Headers({ "x-forwarded-for": "203.0.113.7", forwarded: "for=203.0.113.7", "x-real-ip": "203.0.113.7" });
  for (const peer of ["127.0.0.1", "10.0.0.1", "::1"])
    expect(callerAddress(peer, headers, readConfiguration({}).trustedProxies)).toBe(peer);
});

test("whatever a caller writes into X-Forwarded-For, the address appended by the trusted proxy counts", () => {
  const proxies = trusting(PROXIES);
  fc.assert(
    fc.property(
      fc.string({ unit: "grapheme-ascii" }),
      fc.ipV4().filter((address) => !proxies.has(address)),
      (claimed, seen) => {
        const headers = new Headers();
        headers.append("x-forwarded-for", `${claimed}, ${seen}`);
        expect(callerAddress("10.0.0.1", headers, proxies)).toBe(seen);
      },
    ),
  );
});

test.each(["10.0.0.1", "10.0.0.0/8", "0.0.0.0/0", "::/0", "2001:db8::/32", "::ffff:10.0.0.0/104", " 10.0.0.1 , ::1 ,"])(
  "GW_TRUSTED_PROXIES may be %p",
  (setting) => {
    expect([trusting(setting).has("203.0.113.7"), trusting(setting).has("2001:db9::1")]).toEqual([
      setting === "0.0.0.0/0",
      setting === "::/0",
    ]);
  },
);

test("a range of IPv4-mapped addresses equals the IPv4 range", () => {
  const proxies = trusting("::ffff:10.0.0.0/104");
  expect([proxies.has("10.255.0.1"), proxies.has("11.0.0.1")]).toEqual([true, false]);
});

test.each([
  "10.0.0.0/33",
  "10.0.0/8",
  "2001:db8::/129",
  "::ffff:10.0.0.0/95",
  "proxy.example",
  "10.0.0.1/",
  "10.0.0.1/-1",
  "10.0.0.1 10.0.0.2",
  "[::1]",
  "fe80::1%eth0",
  "*",
])("an invalid entry %p of GW_TRUSTED_PROXIES is named in the error", (entry) => {
  expect(() => trusting(`192.0.2.1,${entry}`)).toThrow(ConfigurationError);
  expect(() => trusting(`192.0.2.1,${entry}`)).toThrow(
    `GW_TRUSTED_PROXIES must be a comma list of addresses and ranges such as 10.0.0.0/8 or 2001:db8::1, which ${entry} is not`,
  );
});

test("every notation of an IP address is normalized to one", () => {
  fc.assert(
    fc.property(fc.ipV6(), (text) => {
      const address = ipAddress(text);
      expect(address).not.toBeNull();
      expect(ipAddress(text.toUpperCase())).toBe(address);
      expect(ipAddress(address ?? "")).toBe(address);
    }),
  );
  const written = [
    "2001:DB8:0:0:1:0:0:1",
    "2001:db8:0:1:1:1:1:1",
    "0:0:0:0:0:0:0:0",
    "1:0:0:0:0:0:0:0",
    "0:0:0:0:0:0:0:1",
    "1:2:3:4::5.6.7.8",
    "::ffff:1.2.3.4",
    "fe80::1%eth0",
    "1.2.3.4",
    "1.2.3",
    "01.2.3.4",
    "",
  ];
  expect(written.map(ipAddress)).toEqual([
    "2001:db8::1:0:0:1",
    "2001:db8:0:1:1:1:1:1",
    "::",
    "1::",
    "::1",
    "1:2:3:4::506:708",
    "1.2.3.4",
    "fe80::1",
    "1.2.3.4",
    null,
    null,
    null,
  ]);
});

test("IPv6 addresses of one /64 count as one network, IPv4 addresses each as their own", () => {
  const group = fc.integer({ min: 0, max: 0xffff }).map((value) => value.toString(16));
  const groups = fc.array(group, { minLength: 4, maxLength: 4 });
  fc.assert(
    fc.property(groups, groups, groups, (network, one, another) => {
      const [here, there] = [one, another].map((host) => networkOf(ipAddress([...network, ...host].join(":")) ?? ""));
      if (ipAddress([...network, ...one].join(":"))?.includes(":") && ipAddress([...network, ...another].join(":"))?.includes(":"))
        expect(here).toBe(there as string);
    }),
  );
  expect([networkOf("2001:db8::1"), networkOf("2001:db8:0:1::1"), networkOf("::1"), networkOf("2001:db8:1:2:3:4:5:6")]).toEqual([
    "2001:db8:0:0",
    "2001:db8:0:1",
    "0:0:0:0",
    "2001:db8:1:2",
  ]);
  expect([networkOf("203.0.113.7"), networkOf(""), networkOf("home")]).toEqual(["203.0.113.7", "", "home"]);
});
