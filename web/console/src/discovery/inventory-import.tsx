import { Button } from "@gatehouse/web-kit/button.tsx";
import { SelectField, TextField } from "@gatehouse/web-kit/field.tsx";
import { FormError } from "@gatehouse/web-kit/form-error.tsx";
import { formatNumber } from "@gatehouse/web-kit/formats.ts";
import { Panel } from "@gatehouse/web-kit/page.tsx";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { adminApi } from "../admin-client.ts";

const ADAPTERS = [
  { value: "cyclonedx", label: "CycloneDX (ML-BOM), JSON" },
  { value: "agent-inventory", label: "Agents or tool servers, JSON" },
  { value: "mdm-csv", label: "Export of a device manager, CSV" },
] as const;
type Adapter = (typeof ADAPTERS)[number]["value"];

function imported(adapter: Adapter, body: FormData) {
  switch (adapter) {
    case "cyclonedx":
      return adminApi.call("POST /v1/admin/discovery/ingest-adapters/cyclonedx", { body });
    case "agent-inventory":
      return adminApi.call("POST /v1/admin/discovery/ingest-adapters/agent-inventory", { body });
    case "mdm-csv":
      return adminApi.call("POST /v1/admin/discovery/ingest-adapters/mdm-csv", { body });
  }
}

/** Imports an inventory file from another system. */
export function InventoryImport(): ReactNode {
  const queries = useQueryClient();
  const [adapter, setAdapter] = useState<Adapter>("cyclonedx");
  const [file, setFile] = useState<File | null>(null);
  const take = useMutation({
    mutationFn: (chosen: File) => {
      const form = new FormData();
      form.set("file", chosen);
      return imported(adapter, form);
    },
    onSuccess: () => queries.invalidateQueries({ queryKey: ["discovery"] }),
  });
  return (
    <Panel title="Import an inventory">
      <form
        className="grid max-w-xl gap-3"
        onSubmit={(event) => {
          event.preventDefault();
          if (file !== null) take.mutate(file);
        }}
      >
        <SelectField label="Kind" value={adapter} choices={ADAPTERS} onChange={({ target }) => setAdapter(target.value as Adapter)} />
        <TextField label="File" type="file" onChange={({ target }) => setFile(target.files?.[0] ?? null)} />
        <FormError error={take.error} />
        {take.isSuccess && (
          <p role="status">
            {formatNumber(take.data.found)} found, {formatNumber(take.data.added)} of them new; {formatNumber(take.data.skipped_count)}{" "}
            passed over.
          </p>
        )}
        <div>
          <Button type="submit" look="primary" busy={take.isPending} disabled={file === null}>
            Import
          </Button>
        </div>
      </form>
    </Panel>
  );
}
