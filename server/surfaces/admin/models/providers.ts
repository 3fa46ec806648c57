import { provider, providerCreate, providerQuery, providerUpdate } from "@gatehouse/contracts/providers";
import { providers } from "../../../directory/models/providers.ts";
import { resource } from "../resource.ts";

export const providerOperations = resource({
  path: "/v1/admin/providers",
  key: "providers",
  noun: "provider",
  tag: "Providers",
  area: "models",
  table: "providers",
  records: providers,
  query: providerQuery,
  create: providerCreate,
  update: providerUpdate,
  read: provider,
  notes: { remove: "Refused with in_use while models name it." },
});
