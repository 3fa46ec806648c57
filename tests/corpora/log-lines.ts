import { SeededRandom } from "./random.ts";

const HEX = "0123456789abcdef";

const LINES: readonly ((random: SeededRandom) => string)[] = [
  (random) =>
    `10.${random.between(0, 255)}.${random.between(0, 255)}.${random.between(1, 254)} - - [21/Nov/2026:10:${random.digits("1#")}:${random.digits("2#")} +0000] "GET /v1/items/${random.digits("X#######")} HTTP/1.1" 200 ${random.digits("X####")} "-" "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36"`,
  (random) =>
    `2026-11-21T10:15:${random.digits("1#")}.${random.digits("######")}Z INFO request_id=${[8, 4, 4, 4, 12].map((length) => random.text(HEX, length)).join("-")} user_id=${random.digits("X#########")} duration_ms=${random.digits("X##.###")}`,
  (random) =>
    `[${random.digits("1763######.###")}] kernel: usb 1-${random.between(1, 9)}: new device number ${random.between(1, 99)} using xhci_hcd, pid ${random.digits("X####")}`,
  (random) =>
    `Nov 21 10:15:${random.digits("1#")} host systemd[1]: Started user@${random.between(1000, 1010)}.service - User Manager for UID ${random.between(1000, 1010)}.`,
  (random) => `commit ${random.text(HEX, 40)} (tag: v${random.between(1, 9)}.${random.between(0, 40)}.${random.between(0, 9)})`,
  (random) =>
    `npm http fetch GET 200 https://registry.invalid/react-dom@${random.between(16, 19)}.${random.between(0, 9)}.0 ${random.between(10, 999)}ms (cache hit)`,
  (random) =>
    `{"level":30,"time":${random.digits("1763#########")},"pid":${random.digits("X####")},"bytes":${random.digits("X########")},"sha256":"${random.text(HEX, 64)}"}`,
  (random) => `Downloading layer sha256:${random.text(HEX, 64)} ${random.digits("X##.##")}MB/${random.digits("X##.##")}MB`,
  (random) => `ERROR 1062 (23000): Duplicate entry '${random.digits("X########")}-${random.digits("X####")}' for key 'orders.order_id'`,
  (random) =>
    `order ${random.digits("X##-#######-#######")} shipped with ${random.digits("1Z999AA1##########")}, total $${random.digits("X,###.##")}`,
  (random) =>
    `at Object.<anonymous> (/srv/app/node_modules/.pnpm/@scope+pkg@${random.between(1, 9)}.2.0/dist/index.js:${random.between(1, 999)}:${random.between(1, 99)})`,
  (random) =>
    `trace_id=${random.text(HEX, 32)} span_id=${random.text(HEX, 16)} offset=${random.digits("X###########")} partition=${random.between(0, 63)} lag=${random.digits("X####")}`,
  (random) =>
    `GC pause 0x${random.text(HEX, 16)} heap ${random.digits("X#########")} -> ${random.digits("X########")} (${random.digits("##.#")} %)`,
];

/** Log lines as services write them, with many kinds of numbers and no personal data. */
export function logLines(seed: number, count: number): string[] {
  const random = new SeededRandom(seed);
  return Array.from({ length: count }, () => random.pick(LINES)(random));
}
