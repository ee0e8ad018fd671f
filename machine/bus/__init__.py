"""PCI and PCIe: devices, bridges, links, and their names."""
