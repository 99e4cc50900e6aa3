typedef int row[4]::;
