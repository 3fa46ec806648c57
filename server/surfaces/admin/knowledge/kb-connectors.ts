import { kbConnector, kbConnectorCreate, kbConnectorQuery, kbConnectorUpdate } from "@gatehouse/contracts/kb-connectors";
import { kbConnectors, syncConnector } from "../../../directory/knowledge/kb-connectors.ts";
import { operation, type AdminOperation } from "../operation.ts";
import { idOf, resource } from "../resource.ts";

const PATH = "/v1/admin/kb-connectors";
const TAG = "Knowledge bases";

export const kbConnectorOperations: readonly AdminOperation[] = [
  ...resource({
    path: PATH,
    key: "connectors",
    noun: "connector",
    tag: TAG,
    area: "tools",
    table: "knowledge_connectors",
    records: kbConnectors,
    query: kbConnectorQuery,
    create: kbConnectorCreate,
    update: kbConnectorUpdate,
    read: kbConnector,
    notes: {
      create: "Its documents are taken in the background, now and then again by its schedule, with who may read each in its source.",
      remove: "With every document that it brought.",
    },
  }),
  operation({
    tag: TAG,
    access: "tools:write",
    reach: "one",
    subject: "knowledge_connectors",
    method: "POST",
    path: `${PATH}/{id}/sync`,
    summary: "Read a source now",
    answer: { status: 202, about: "The connector as it was last", schema: kbConnector },
    run: (call) => call.write((write) => syncConnector(write, call.tenantId, idOf(call))),
  }),
];
