import { expect, test } from "bun:test";
import { isPrivateAddress } from "./private-address.ts";

test.each([
  "127.0.0.1",
  "10.1.2.3",
  "172.16.0.1",
  "192.168.1.1",
  "169.254.169.254",
  "168.63.129.16",
  "0.0.0.0",
  "100.64.0.1",
  "192.0.2.1",
  "255.255.255.255",
  "::",
  "::1",
  "fe80::1",
  "fe80::1%eth0",
  "fd00::1",
  "fec0::1",
  "ff02::1",
  "2001:db8::1",
  "::ffff:127.0.0.1",
  "::ffff:7f00:1",
  "::7f00:1",
  "::ffff:0:7f00:1",
  "64:ff9b::10.0.0.1",
  "64:ff9b:1::7f00:1",
  "2002:7f00:1::",
  "2001:0:7f00:1::",
])("%s is a private address", (address) => {
  expect(isPrivateAddress(address)).toBe(true);
});

test.each(["1.1.1.1", "172.32.0.1", "192.0.1.1", "2606:4700::1111", "::ffff:1.1.1.1", "64:ff9b::1.1.1.1", "2002:101:101::"])(
  "%s is a public address",
  (address) => {
    expect(isPrivateAddress(address)).toBe(false);
  },
);
