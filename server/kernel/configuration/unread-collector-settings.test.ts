import { expect, test } from "bun:test";
import { unreadCollectorSettings } from "./unread-collector-settings.ts";

const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector:4318" };

test("OpenTelemetry settings without effect are reported, with a hint for a misspelled endpoint", () => {
  expect(unreadCollectorSettings({ GW_HOST: "127.0.0.1", OTEL_SERVICE_NAME: "" })).toBeNull();
  expect(unreadCollectorSettings({ ...ENDPOINT, OTEL_SERVICE_NAME: "gateway" })).toBeNull();
  expect(unreadCollectorSettings({ ...ENDPOINT, OTEL_EXPORTER_OTLP_PROTOCOL: "grpc", OTEL_SDK_DISABLED: "true" })).toBe(
    "OTEL_EXPORTER_OTLP_PROTOCOL, OTEL_SDK_DISABLED: not read by the gateway, and without effect",
  );
  expect(unreadCollectorSettings({ OTEL_EXPORTER_OTLP_ENPOINT: "http://collector:4318", OTEL_SERVICE_NAME: "gateway" })).toBe(
    "OTEL_EXPORTER_OTLP_ENDPOINT is not set (is it meant by OTEL_EXPORTER_OTLP_ENPOINT?): no trace and no metric is sent, " +
      "and OTEL_EXPORTER_OTLP_ENPOINT, OTEL_SERVICE_NAME without effect",
  );
  expect(unreadCollectorSettings({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "http://collector:4318/v1/traces" })).toStartWith(
    "OTEL_EXPORTER_OTLP_ENDPOINT is not set: no trace",
  );
});

test("variables that Kubernetes sets for a service named otel-collector are not reported", () => {
  const told = {
    OTEL_COLLECTOR_SERVICE_HOST: "10.0.0.7",
    OTEL_COLLECTOR_SERVICE_PORT: "4318",
    OTEL_COLLECTOR_SERVICE_PORT_OTLP_HTTP: "4318",
    OTEL_COLLECTOR_PORT: "tcp://10.0.0.7:4318",
    OTEL_COLLECTOR_PORT_4318_TCP_ADDR: "10.0.0.7",
  };
  expect([unreadCollectorSettings(told), unreadCollectorSettings({ ...told, ...ENDPOINT })]).toEqual([null, null]);
  expect(unreadCollectorSettings({ ...told, OTEL_SERVICE_NAME: "gateway" })).toEndWith("and OTEL_SERVICE_NAME without effect");
});
