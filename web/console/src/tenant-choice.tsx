import { ComboboxField } from "@gatehouse/web-kit/combobox.tsx";
import { useNavigate } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { useChoices } from "./records/choices.ts";
import { TENANTS } from "./records/organization-kinds.ts";
import { referenceTo } from "./records/records-client.ts";
import { useTenant } from "./tenant.ts";

/** No tenant chosen: the gateway's default tenant applies. */
const USUAL = { value: "", label: "Usual tenant" };

/** The tenant selector, for system administrators, who see every tenant. */
export function TenantChoice(): ReactNode {
  const tenant = useTenant();
  const go = useNavigate();
  const [text, setText] = useState("");
  const choices = useChoices(TENANTS, tenant === undefined ? [] : [tenant], text);
  const items = choices.items.map((record) => {
    const id = referenceTo(TENANTS, record);
    const name = record["display_name"];
    return typeof name === "string" && name !== id ? { value: id, label: name, detail: id } : { value: id, label: id };
  });
  if (!choices.isSuccess || items.length < 2) return null;
  // A deleted tenant is not listed, but can still be viewed.
  const isListed = tenant === undefined || items.some(({ value }) => value === tenant);
  return (
    <div className="w-40 min-w-0 sm:w-56">
      <ComboboxField
        label="Tenant"
        labelHidden
        items={[USUAL, ...(isListed ? [] : [{ value: tenant, label: tenant }]), ...items]}
        value={tenant ?? USUAL.value}
        onChange={(chosen) => {
          if (chosen !== null && chosen !== (tenant ?? USUAL.value))
            void go({ to: ".", search: { tenant: chosen === USUAL.value ? undefined : chosen } as never });
        }}
        onSearch={setText}
        emptyLabel={choices.isPending ? "Loading" : "There is no such tenant"}
        openLabel="Show each tenant"
      />
    </div>
  );
}
