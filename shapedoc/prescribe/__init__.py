"""The prescription: for a finding the tensor, its right shape, the fix and the test, proved before they are offered."""
