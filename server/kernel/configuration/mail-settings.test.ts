import { describe, expect, test } from "bun:test";
import { readConfiguration } from "./configuration.ts";
import { ConfigurationError } from "./read-variable.ts";

const FROM = "Gatehouse <gateway@mail.example>";
const mailOf = (url: string, from = FROM) => readConfiguration({ GW_SMTP_URL: url, GW_SMTP_FROM: from }).mail;

test("without mail settings there is no mail, and only one of the two settings stops the start", () => {
  expect(readConfiguration({}).mail).toBeNull();
  for (const env of [{ GW_SMTP_URL: "smtp://mail.example" }, { GW_SMTP_FROM: FROM }])
    expect(() => readConfiguration(env)).toThrow("must be set together");
});

test.each([
  ["smtp://mail.example", { host: "mail.example", port: 587, secure: false, login: null }],
  ["smtps://mail.example/", { host: "mail.example", port: 465, secure: true, login: null }],
  [
    "smtp://ada%40example.com:p%40ss%3A%2F@[::1]:2525",
    { host: "::1", port: 2525, secure: false, login: { user: "ada@example.com", pass: "p@ss:/" } },
  ],
])("GW_SMTP_URL %s is accepted", (url, server) => {
  expect(mailOf(url)).toEqual({ server, from: { name: "Gatehouse", address: "gateway@mail.example" } });
});

test("GW_SMTP_FROM may be a bare address", () =>
  expect(mailOf("smtp://mail.example", "gateway@mail.example")?.from).toEqual({ name: "", address: "gateway@mail.example" }));

describe("GW_SMTP_URL is refused without showing its password", () => {
  test.each([
    "https://u:hidden@mail.example",
    "smtp://",
    "smtp://u@mail.example",
    "smtp://u:hidden@mail.example/x",
    "smtp://u:hidden@mail.example?tls=no",
    "smtp://u:hidden%zz@mail.example",
    "hidden",
  ])("%s", (url) => {
    let thrown: unknown;
    try {
      mailOf(url);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(ConfigurationError);
    expect((thrown as Error).message).toStartWith("GW_SMTP_URL must be");
    expect((thrown as Error).message).not.toContain("hidden");
  });
});

test.each(["Gatehouse", "a@b.example, c@d.example", "A\r\nBcc: x@y.example <a@b.example>", "<a@b.example> x"])(
  "GW_SMTP_FROM %j is refused",
  (from) => {
    expect(() => mailOf("smtp://mail.example", from)).toThrow("GW_SMTP_FROM must be");
  },
);
