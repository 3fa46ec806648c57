import { listOf, pageQuery } from "@gatehouse/contracts/conventions";
import {
  usageImportMapping,
  usageImportMappingQuery,
  usageImportMappingUpdate,
  usageImportProvider,
  usageImportProviderQuery,
  usageImportProviderUpdate,
  usageImportRun,
  usageImportTest,
  usageReconciliation,
  usageReconciliationQuery,
} from "@gatehouse/contracts/usage-import";
import { listMappings, mapName } from "../../../directory/usage-import/import-mappings.ts";
import { listImportRuns, runImport } from "../../../directory/usage-import/import-runs.ts";
import { getImportProvider, listImportProviders, setImportProvider } from "../../../directory/usage-import/import-settings.ts";
import { reconcileUsage } from "../../../directory/usage-import/reconcile-usage.ts";
import { operation, type AdminOperation } from "../operation.ts";
import { idOf, listed } from "../resource.ts";

const PATH = "/v1/admin/usage-import/providers";
const ONE = `${PATH}/{id}`;
const tag = "Usage import";
const reading = { tag, access: "usage:read", reach: "one", method: "GET" } as const;
const writing = { tag, access: "usage:write", reach: "one" } as const;
const ofProvider = { subject: "providers" } as const;

export const usageImportOperations: readonly AdminOperation[] = [
  operation({
    ...reading,
    path: PATH,
    summary: "List providers with their usage imports",
    description: "Vendors' figures are shown next to the gateway's and never added to them.",
    query: usageImportProviderQuery,
    answer: { status: 200, about: "One page of them", schema: listOf("providers", usageImportProvider) },
    run: (call) =>
      listed("providers", call, (page) =>
        listImportProviders(call.services.directory, call.tenantId, call.query.only_supported === true, page),
      ),
  }),
  operation({
    ...reading,
    ...ofProvider,
    path: ONE,
    summary: "Read the import of a provider",
    answer: { status: 200, about: "Its settings", schema: usageImportProvider },
    run: (call) => getImportProvider(call.services.directory.db, call.tenantId, idOf(call)),
  }),
  operation({
    ...writing,
    ...ofProvider,
    method: "PATCH",
    path: ONE,
    summary: "Change the import of a provider",
    description:
      "Members left out of the body stay unchanged. `api_key` is the account's, which may read its bill, and never the one of calls.",
    body: usageImportProviderUpdate,
    answer: { status: 200, about: "The settings as they are now", schema: usageImportProvider },
    run: (call) => call.write((write) => setImportProvider(write, call.tenantId, idOf(call), call.body)),
  }),
  operation({
    ...reading,
    ...ofProvider,
    path: `${ONE}/runs`,
    summary: "List runs of an import",
    description: "Newest first.",
    query: pageQuery,
    answer: { status: 200, about: "One page of them", schema: listOf("runs", usageImportRun) },
    run: (call) => listed("runs", call, (page) => listImportRuns(call.services.directory, call.tenantId, idOf(call), page)),
  }),
  operation({
    ...writing,
    ...ofProvider,
    method: "POST",
    path: `${ONE}/run`,
    summary: "Run an import now",
    description: "Starts from the day before which everything has been read. A run that waits for its vendor continues at once instead.",
    answer: { status: 202, about: "The run", schema: usageImportRun },
    run: (call) => call.write((write) => runImport(write, call.tenantId, idOf(call))),
  }),
  operation({
    ...writing,
    ...ofProvider,
    method: "POST",
    path: `${ONE}/test`,
    summary: "Try whether the vendor answers",
    description: "Requests yesterday's figures with the stored key, and imports nothing.",
    answer: { status: 200, about: "What the vendor did", schema: usageImportTest },
    async run(call) {
      const { id } = await getImportProvider(call.services.directory.db, call.tenantId, idOf(call));
      return call.services.tryImport(call.tenantId, id);
    },
  }),
  operation({
    ...reading,
    ...ofProvider,
    path: `${ONE}/mappings`,
    summary: "List how vendor names are mapped",
    query: usageImportMappingQuery,
    answer: { status: 200, about: "One page of them", schema: listOf("mappings", usageImportMapping) },
    run: (call) => listed("mappings", call, (page) => listMappings(call.services.directory, call.tenantId, idOf(call), call.query, page)),
  }),
  operation({
    ...writing,
    ...ofProvider,
    method: "PATCH",
    path: `${ONE}/mappings`,
    summary: "Map a vendor's name",
    description: "Later imports do not change it.",
    body: usageImportMappingUpdate,
    answer: { status: 200, about: "It, as it is now", schema: usageImportMapping },
    run: (call) => call.write((write) => mapName(write, call.tenantId, idOf(call), call.body)),
  }),
  operation({
    ...reading,
    ...ofProvider,
    path: `${ONE}/reconciliation`,
    summary: "Compare the vendor's figures with the gateway's rows",
    description:
      "By day and, as requested, by model or key; each difference is explained as far as the figures allow, in parts that add up to it.",
    query: usageReconciliationQuery,
    answer: { status: 200, about: "Both sides, and the differences", schema: usageReconciliation },
    run: (call) => {
      const { directory } = call.services;
      return reconcileUsage(directory.db, call.tenantId, idOf(call), call.query, new Date(directory.clock.now()));
    },
  }),
];
