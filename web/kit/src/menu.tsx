import { Menu as Base } from "@base-ui/react/menu";
import type { LucideIcon } from "lucide-react";
import type { ReactNode } from "react";

export interface MenuItem {
  readonly label: string;
  readonly icon?: LucideIcon;
  readonly onSelect: () => void;
  readonly danger?: boolean;
}

interface MenuButtonProps {
  /** Accessible name of the button that opens it. */
  readonly label: string;
  readonly trigger: ReactNode;
  readonly items: readonly MenuItem[];
  readonly className?: string;
}

export function MenuButton({ label, trigger, items, className }: MenuButtonProps): ReactNode {
  return (
    <Base.Root>
      <Base.Trigger
        aria-label={label}
        title={label}
        className={className ?? "inline-flex min-h-9 items-center gap-2 rounded-lg px-2 hover:bg-sunken"}
      >
        {trigger}
      </Base.Trigger>
      <Base.Portal>
        <Base.Positioner sideOffset={6} align="end" className="z-50">
          <Base.Popup className="min-w-48 rounded-xl border border-line bg-surface p-1.5 shadow-pop">
            {items.map(({ label: name, icon: Icon, onSelect, danger }) => (
              <Base.Item
                key={name}
                onClick={onSelect}
                className={`flex min-h-9 items-center gap-2.5 rounded-lg px-3 text-sm data-highlighted:bg-sunken ${danger === true ? "text-bad" : ""}`}
              >
                {Icon && <Icon aria-hidden size={16} />}
                {name}
              </Base.Item>
            ))}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}
